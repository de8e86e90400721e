const DIGEST = /^(sha(?:256|384|512))-([\w+/-]+=*)(?:\?.*)?$/i;

/**
 * Whether the bytes have one of the digests of the strongest algorithm that is given, as `integrity` of the platform's `fetch`
 * (https://www.w3.org/TR/SRI/). Where none is of an algorithm of the standard, any bytes do.
 */
export async function matchesIntegrity(bytes: Uint8Array<ArrayBuffer>, integrity: string): Promise<boolean> {
  const given = integrity.split(/\s+/).flatMap((text) => {
    const [, algorithm, digest] = DIGEST.exec(text) ?? [];
    return algorithm === undefined || digest === undefined
      ? []
      : [[algorithm.toLowerCase(), digest] as const];
  });
  const [strongest] = given
    .map(([algorithm]) => algorithm)
    .toSorted()
    .reverse();
  if (strongest === undefined) return true;
  const hash = await crypto.subtle.digest(strongest.replace('sha', 'SHA-'), bytes);
  const found = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return given.some(
    ([algorithm, digest]) =>
      algorithm === strongest && digest.replaceAll('-', '+').replaceAll('_', '/') === found,
  );
}
