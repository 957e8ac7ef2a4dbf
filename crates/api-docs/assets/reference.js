// Fills the reference. Requests are tried against the server that serves this page, whatever address the
// document gives.
addEventListener("DOMContentLoaded", async () => {
  const answer = await fetch("/public/v1/openapi.json");
  const spec = await answer.json();
  spec.servers = [{ url: location.origin }];
  SwaggerUIBundle({
    spec,
    dom_id: "#reference",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 3,
    displayRequestDuration: true,
    docExpansion: "list",
    validatorUrl: null,
  });
});
