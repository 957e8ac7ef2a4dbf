// A till that buys and asks, with types generated from the OpenAPI document. It is only compiled: what the document says
// must be usable without a cast, and what it does not say must not compile.
import type { components, paths, webhooks } from "./api";

type Confirm = paths["/public/v1/purchases/confirm"]["post"];
type Order = Confirm["requestBody"]["content"]["application/json"];
type Bought = Confirm["responses"][200]["content"]["application/json"];
type Refused = Confirm["responses"][422]["content"]["application/json"];
type Delivered = webhooks["event"]["post"]["requestBody"]["content"]["application/json"];
type Page = paths["/public/v1/purchases"]["get"]["responses"][200]["content"]["application/json"];

// The least that a confirm needs. No flag with a default is required.
export const order: Order = {
  source_channel: "POS",
  language: "en-BW",
  product_type: "ELECTRICITY",
  provider_code: "BPC",
  debited_account_id: 1,
  beneficiary_phone_number: "26771234567",
  subscriber_identifier: "07000010012",
  amount: 100,
  currency: "BWP",
};

export function slip(purchase: Bought): string {
  switch (purchase.product.type) {
    case "ELECTRICITY":
      return `${purchase.product.token ?? ""} ${purchase.product.units ?? ""}`;
    case "WATER":
      return purchase.product.token ?? "credited";
    case "AIRTIME":
      // @ts-expect-error Airtime has no token.
      return purchase.product.token;
  }
}

export function advice(refused: Refused): string {
  const error: components["schemas"]["ErrorDetail"] = refused.error;
  // @ts-expect-error No such code.
  if (refused.error.code === "meter_is_blue") return "";
  return refused.error.code === "meter_blocked" ? error.message : error.code;
}

export function failures(page: Page): components["schemas"]["FailureCode"][] {
  return page.data.flatMap((purchase) => (purchase.failure ? [purchase.failure.code] : []));
}

export function heard(event: Delivered): string {
  switch (event.type) {
    case "purchase.succeeded":
    case "purchase.failed":
      return event.data.purchase.reference;
    case "wallet.low":
      return event.data.low_balance;
    case "webhook.test":
      // @ts-expect-error A test is about no purchase.
      return event.data.purchase.reference;
    // @ts-expect-error No such type.
    case "purchase.lost":
      return "";
    default:
      return event.id;
  }
}

export async function confirm(base: string, token: string, wanted: Order): Promise<Bought> {
  const answer = await fetch(`${base}/public/v1/purchases/confirm`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(wanted),
  });
  return (await answer.json()) as Bought;
}
