// The same least confirm with the client that hey-api generates. It is only compiled.
import { confirmPurchase } from "./hey";

export async function confirm(base: string, token: string): Promise<string> {
  const { data, error } = await confirmPurchase({
    baseUrl: base,
    auth: token,
    body: {
      source_channel: "POS",
      language: "en-BW",
      product_type: "ELECTRICITY",
      provider_code: "BPC",
      debited_account_id: 1,
      beneficiary_phone_number: "26771234567",
      subscriber_identifier: "07000010012",
      amount: 100,
      currency: "BWP",
    },
  });
  if (error) return error.error.code;
  return data.product.type === "ELECTRICITY" ? (data.product.token ?? "") : data.status;
}
