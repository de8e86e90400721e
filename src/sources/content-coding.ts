/** The codings of HTTP that compress. Any other name that a server sends (`aws-chunked`, `none`, `UTF-8`) leaves the bytes as they are. */
const COMPRESSIONS: readonly string[] = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'compress', 'x-compress'];

/** The first coding of a body by which it is compressed; `undefined`: none. @param contentEncoding the header. */
export function compressionOf(contentEncoding: string | null | undefined): string | undefined {
  const codings = (contentEncoding ?? '').toLowerCase().split(',');
  return codings.map((coding) => coding.trim()).find((coding) => COMPRESSIONS.includes(coding));
}
