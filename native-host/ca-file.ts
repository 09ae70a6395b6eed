// What a CA file holds, which the user may have mistaken: Node takes a text without a certificate for an empty list of
// trusted ones, and says later that nothing is trusted.
import { X509Certificate } from 'node:crypto';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** PEM, or a message that names the file and its fault. */
export type Certificates = { readonly pem: string } | { readonly message: string };

export function certificatesIn(file: string, text: string): Certificates {
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) return { message: `the CA file ${file} holds no PEM certificate` };
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      const why = (error as Error).message;
      return { message: `certificate ${index + 1} in the CA file ${file} is broken: ${why}` };
    }
  }
  return { pem: certificates.join('\n') };
}
