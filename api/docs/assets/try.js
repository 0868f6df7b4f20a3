// Shows the description of the API. The demo fills in its own key, and a car of its own
// site where the description has another one.
const main = document.getElementById("ui");
const {key, listing, documented} = main.dataset;

const label = () => {
  document.querySelectorAll("#servers:not([aria-label])").forEach(e => e.setAttribute("aria-label", "Server"));
  document.querySelectorAll(".copy-to-clipboard button:not([aria-label])").forEach(e => e.setAttribute("aria-label", "Copy"));
  document.querySelectorAll("#ui :is(select, textarea, input):not([aria-label], [id])").forEach(e =>
    e.setAttribute("aria-label", e.closest("[data-param-name]")?.dataset.paramName || (e.localName === "textarea" ? "Body" : "Example")));
  document.querySelectorAll(".microlight:not([tabindex])").forEach(e => { e.tabIndex = 0; });
};

const response = await fetch("/openapi.json");
if (!response.ok) {
  main.textContent = `The description cannot be loaded (${response.status}). Please reload the page.`;
} else {
  const text = await response.text();
  const spec = JSON.parse(listing ? text.replaceAll(documented, listing) : text);
  // An example of a header is filled in and sent: one Idempotency-Key with all requests.
  for (const parameter of Object.values(spec.components.parameters)) {
    if (parameter.in === "header") delete parameter.example;
  }
  const ui = SwaggerUIBundle({
    spec, dom_id: "#ui", deepLinking: false, validatorUrl: null, persistAuthorization: false,
    onComplete: () => {
      if (key) ui.preauthorizeApiKey("bearer", key);
      new MutationObserver(label).observe(document.body, {childList: true, subtree: true});
      label();
    },
  });
}
