const ALGORITHM = /^(sha(?:256|384|512))(?![^-])-?/i;

/**
 * Whether the bytes have one of the digests of the strongest algorithm that is given, as `integrity` of the platform's `fetch`
 * (https://www.w3.org/TR/SRI/). A digest that is malformed is that of no bytes. Where none is of an algorithm of the standard, any
 * bytes do.
 */
export async function matchesIntegrity(bytes: Uint8Array<ArrayBuffer>, integrity: string): Promise<boolean> {
  const given = integrity.split(/\s+/).flatMap((text) => {
    const [prefix, algorithm] = ALGORITHM.exec(text) ?? [];
    return prefix === undefined || algorithm === undefined
      ? []
      : [[algorithm.toLowerCase(), text.slice(prefix.length).replace(/\?.*/s, '')] as const];
  });
  const [strongest] = given
    .map(([algorithm]) => algorithm)
    .toSorted()
    .reverse();
  if (strongest === undefined) return true;
  const hash = await crypto.subtle.digest(strongest.replace('sha', 'SHA-'), bytes);
  const found = btoa(String.fromCharCode(...new Uint8Array(hash))).replace(/={1,2}$/, '');
  return given.some(
    ([algorithm, digest]) =>
      algorithm === strongest &&
      digest
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .replace(/={1,2}$/, '') === found,
  );
}
