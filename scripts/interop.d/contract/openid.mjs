// A certified OpenID provider, oidc-provider, for one client: node openid.mjs PORT CLIENT_ID CLIENT_SECRET REDIRECT_URI
// It signs in whoever asks, under the name that is typed.
import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";

const [port, client_id, client_secret, redirect_uri] = process.argv.slice(2);
// Another host name than the console's, so that browsers take it for another site.
const issuer = `http://localhost:${port}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const provider = new Provider(issuer, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect_uri] }],
  cookies: { keys: ["of this check"] },
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "interop" }] },
  pkce: { required: () => true },
});
provider.on("server_error", (_context, error) => console.error(error));
for (const refused of ["authorization.error", "grant.error"]) {
  provider.on(refused, (_context, error) => console.error(refused, error.message, error.error_description));
}
provider.listen(Number(port), "127.0.0.1", () => console.log(issuer));
