// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash for short inputs, sufficient for a network's key. The first
// forecast needs the key, and loading node:crypto takes 4 ms of the 5 by which a helper may start later than a bare
// Node; caching old keys instead would mean storing gateways' addresses in the clear.

const MASK = 0xffff_ffff_ffff_ffffn;

function rotated(x: bigint, bits: bigint): bigint {
  return ((x << bits) | (x >> (64n - bits))) & MASK;
}

function littleEndian(bytes: Uint8Array, at: number): bigint {
  let word = 0n;
  for (let i = 7; i >= 0; i -= 1) word = (word << 8n) | BigInt(bytes[at + i] ?? 0);
  return word;
}

/** The 64-bit hash of `data` under the first 16 bytes of `key`, as 16 hexadecimal digits. */
export function siphash(key: Uint8Array, data: Uint8Array): string {
  const [k0, k1] = [littleEndian(key, 0), littleEndian(key, 8)];
  // The paper's constants: "somepseudorandomlygeneratedbytes".
  let v0 = k0 ^ 0x736f_6d65_7073_6575n;
  let v1 = k1 ^ 0x646f_7261_6e64_6f6dn;
  let v2 = k0 ^ 0x6c79_6765_6e65_7261n;
  let v3 = k1 ^ 0x7465_6462_7974_6573n;

  function rounds(count: number): void {
    for (let i = 0; i < count; i += 1) {
      v0 = (v0 + v1) & MASK;
      v1 = rotated(v1, 13n) ^ v0;
      v0 = rotated(v0, 32n);
      v2 = (v2 + v3) & MASK;
      v3 = rotated(v3, 16n) ^ v2;
      v0 = (v0 + v3) & MASK;
      v3 = rotated(v3, 21n) ^ v0;
      v2 = (v2 + v1) & MASK;
      v1 = rotated(v1, 17n) ^ v2;
      v2 = rotated(v2, 32n);
    }
  }

  const whole = data.length - (data.length % 8);
  for (let at = 0; at <= whole; at += 8) {
    // The last word has the length in its highest byte; missing bytes are zero.
    const length = at === whole ? BigInt(data.length & 0xff) << 56n : 0n;
    const word = littleEndian(data, at) | length;
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xffn;
  rounds(4);
  return (v0 ^ v1 ^ v2 ^ v3).toString(16).padStart(16, '0');
}
