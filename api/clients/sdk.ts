// Calls the demo with the client that @hey-api/openapi-ts generates of openapi.yaml. What an
// answer is its member "object" says, and every error has a code: tsc --strict checks both.
import { client } from "./sdk/client.gen.js";
import { createBatch, createEstimate, getJob, type Job } from "./sdk/index.js";

declare const process: { env: Record<string, string | undefined> };

const url = process.env["LISTING"] ?? "";
const key = process.env["USHURU_KEY"] ?? "";
client.setConfig({ baseUrl: process.env["USHURU_URL"] ?? "", auth: key });

function check(ok: boolean, what: unknown): void {
  if (!ok) throw new Error(JSON.stringify(what));
}

const started = await createEstimate({ body: { url: `${url}?sdk` }, headers: { Prefer: "respond-async" } });
check(started.data?.object === "job", started);
let job: Job | undefined = started.data?.object === "job" ? started.data : undefined;
while (job && (job.state === "queued" || job.state === "running")) {
  const read: Awaited<ReturnType<typeof getJob>> = await getJob({ path: { id: job.id }, headers: { Prefer: "wait=20" } });
  job = read.data;
}
const result = job?.result;
if (result?.object !== "estimate") throw new Error(JSON.stringify(job));
check(result.tax.referenceNumber.startsWith("SIM"), result.tax);

const dry = await createBatch({ body: { urls: [url] }, query: { dryRun: true } });
if (dry.data?.object !== "batch_dry_run") throw new Error(JSON.stringify(dry));
check(dry.data.valid === 1, dry.data);

const wrong = await createEstimate({ body: { url: "ftp://x/" } });
check(wrong.error?.code === "url_forbidden", wrong.error);
const stranger = await createEstimate({ body: { url }, auth: "ush_none" });
check(stranger.error?.code === "api_key_invalid" && stranger.response.status === 401, stranger.error);
console.log("the generated client works");
