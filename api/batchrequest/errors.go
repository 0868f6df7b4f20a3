package batchrequest

import (
	"net/http"

	"ushuru/api/problem"
)

// What is wrong with a batch, or with a row of it.
var (
	errInvalid              = problem.New(http.StatusBadRequest, "invalid_batch", nil)
	errOptionInvalid        = problem.New(http.StatusBadRequest, "option_invalid", nil).Of("options")
	errCSVHeaderMissing     = problem.New(http.StatusBadRequest, "csv_header_missing", nil)
	errRowsMissing          = problem.New(http.StatusBadRequest, "rows_missing", nil)
	errTooManyRows          = problem.New(http.StatusBadRequest, "too_many_rows", nil)
	errRowsInvalid          = problem.New(http.StatusBadRequest, "rows_invalid", nil)
	errRowInvalid           = problem.New(http.StatusBadRequest, "row_invalid", nil)
	errRowCells             = problem.New(http.StatusBadRequest, "row_invalid.cells", nil)
	errFormInvalid          = problem.New(http.StatusBadRequest, "form_invalid.batch", nil)
	errTableUnreadable      = problem.New(http.StatusBadRequest, "table_unreadable", nil)
	errTableOldExcel        = problem.New(http.StatusBadRequest, "table_unreadable.old_excel", nil)
	errCharset              = problem.New(http.StatusBadRequest, "invalid_batch.charset", nil)
	errTableTooLarge        = problem.New(http.StatusRequestEntityTooLarge, "table_too_large", nil)
	errRowURLMissing        = problem.New(http.StatusBadRequest, "url_missing.row", nil)
	errReferenceInvalid     = problem.New(http.StatusBadRequest, "reference_invalid", nil)
	errRowLabelInvalid      = problem.New(http.StatusBadRequest, "field_invalid.row_label", nil)
	errUnsupportedMediaType = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type.batch", nil)
	errRowNotKept           = problem.New(http.StatusBadRequest, "row_invalid.not_kept", problem.AtMost(maxRejectedKept))
	errInternal             = problem.New(http.StatusInternalServerError, "internal", nil)
)
