// The same least confirm with the client that hey-api generates. It is only compiled.
import { order } from "./confirm";
import { confirmPurchase } from "./hey";

export async function confirm(base: string, token: string): Promise<string> {
  const { data, error } = await confirmPurchase({ baseUrl: base, auth: token, body: order });
  if (error) return error.error.code;
  return data.product.type === "ELECTRICITY" ? (data.product.token ?? "") : data.status;
}
