// Calls the demo with the client that is generated of openapi.yaml. It is compiled with
// tsc --strict: what is optional stays optional, and what is missing is an error.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { env: Record<string, string | undefined> };

type Confidence = components["schemas"]["Confidence"];

const baseUrl = process.env["USHURU_URL"] ?? "";
const url = process.env["LISTING"] ?? "";
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env["USHURU_KEY"] ?? ""}` } });

function check(ok: boolean, what: string): void {
  if (!ok) throw new Error(what);
}

const minimal = await api.POST("/v1/estimate", { body: { url } });
if (minimal.data?.object !== "estimate") throw new Error(JSON.stringify(minimal)); // 202: a job
const confidence: Confidence = minimal.data.matched.confidence;
check(["high", "medium", "low"].includes(confidence), `confidence ${confidence}`);
check(minimal.data.tax.referenceNumber.startsWith("SIM"), minimal.data.tax.referenceNumber);

// @ts-expect-error: the URL is required
const without = await api.POST("/v1/estimate", { body: {} });
check(without.response.status === 400 && without.error?.code === "url_missing", JSON.stringify(without.error));

const batch = await api.POST("/v1/batches", { body: { items: [{ url }], options: { onInvalid: "skip" } } });
if (batch.data?.object !== "batch") throw new Error(JSON.stringify(batch)); // 200: a dry run
const read = await api.GET("/v1/batches/{id}", { params: { path: { id: batch.data.id } } });
check(read.data?.counts.rejected === 0, JSON.stringify(read.error));

const unknown = await api.GET("/v1/jobs/{id}", { params: { path: { id: "none" }, query: { lang: "sw" } } });
check(unknown.response.status === 404 && unknown.error?.code === "job_not_found", JSON.stringify(unknown.error));
console.log("the generated client works");
