/** The bytes that a source has read, before they are a value. */
export interface Body {
  readonly bytes: Uint8Array;
  /** As UTF-8, without a byte order mark. @throws {TypeError} naming the first byte that is none, counted from 0. */
  readonly text: string;
}
