package batchrequest

import (
	"net/http"

	"ushuru/api/problem"
)

// What is wrong with a batch, or with a row of it.
var (
	errInvalid              = problem.BadRequest("invalid_batch")
	errOptionInvalid        = problem.BadRequest("option_invalid").Of("options")
	errCSVHeaderMissing     = problem.BadRequest("csv_header_missing")
	errRowsMissing          = problem.BadRequest("rows_missing")
	errTooManyRows          = problem.BadRequest("too_many_rows")
	errRowsInvalid          = problem.BadRequest("rows_invalid")
	errRowInvalid           = problem.BadRequest("row_invalid")
	errRowCells             = problem.BadRequest("row_invalid.cells")
	errFormInvalid          = problem.BadRequest("form_invalid.batch")
	errTableUnreadable      = problem.BadRequest("table_unreadable")
	errTableOldExcel        = problem.BadRequest("table_unreadable.old_excel")
	errCharset              = problem.BadRequest("invalid_batch.charset")
	errTableTooLarge        = problem.New(http.StatusRequestEntityTooLarge, "table_too_large", nil)
	errRowURLMissing        = problem.BadRequest("url_missing.row")
	errReferenceInvalid     = problem.BadRequest("reference_invalid")
	errRowLabelInvalid      = problem.BadRequest("field_invalid.row_label")
	errUnsupportedMediaType = problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type.batch", nil)
	errRowNotKept           = problem.New(http.StatusBadRequest, "row_invalid.not_kept", problem.AtMost(maxRejectedKept))
	errInternal             = problem.New(http.StatusInternalServerError, "internal", nil)
)
