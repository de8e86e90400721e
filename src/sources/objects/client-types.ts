import type { ByteStream } from '../../bounded-stream.ts';

/** The used part of an `S3` of `@aws-sdk/client-s3` 3. */
export interface ObjectClient {
  getObject(input: ObjectRequest, options: { readonly abortSignal: AbortSignal }): PromiseLike<ObjectAnswer>;
}

/** The input of `GetObject`. */
interface ObjectRequest {
  readonly Bucket: string;
  readonly Key: string;
  readonly VersionId?: string;
  readonly IfNoneMatch?: string;
}

/** The used part of the output of `GetObject`. */
export interface ObjectAnswer {
  readonly Body?: { transformToWebStream(): ByteStream } | undefined;
  readonly ContentLength?: number | undefined;
  /** Of the stored object. Browsers decode it on their own. */
  readonly ContentEncoding?: string | undefined;
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
  readonly VersionId?: string | undefined;
}
