// Whether a message is genuine, by the library of Standard Webhooks: {secret, headers, body} on the standard input.
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
try {
  new Webhook(secret).verify(body, headers);
  console.log(true);
} catch (error) {
  if (!(error instanceof WebhookVerificationError)) throw error;
  console.log(false);
}
