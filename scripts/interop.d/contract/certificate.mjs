// The payload of a certificate, by the library `jose`: {certificate, keys} on the standard input. null if it is not genuine.
import { readFileSync } from "node:fs";
import { compactVerify, createLocalJWKSet, errors } from "jose";

const { certificate, keys } = JSON.parse(readFileSync(0, "utf8"));
try {
  const { payload } = await compactVerify(certificate, createLocalJWKSet(keys), { algorithms: ["EdDSA"] });
  console.log(new TextDecoder().decode(payload));
} catch (error) {
  if (!(error instanceof errors.JOSEError)) throw error;
  console.log(null);
}
