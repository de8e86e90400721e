import { ownMessageOf } from '../../observe/logger.ts';
import { pauseHeaders } from '../http-errors.ts';

/** The used part of an error of the AWS SDK. */
interface SdkError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** "304 Not Modified", which the SDK takes for an error. */
export function isNotModified(error: unknown): boolean {
  return statusOf(error) === 304;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  NoSuchKey: 'does not exist',
  NoSuchVersion: 'does not exist in this version',
  NoSuchBucket: 'does not exist, nor does its bucket',
  AccessDenied: 'may not be read with these credentials, or does not exist',
};

/** The failure in one line; with the headers of the response about a pause, which tickless heeds. The error of the SDK is its cause. */
export function objectFailure(source: string, error: unknown): Error {
  const { name = '', $response } = (error ?? {}) as SdkError;
  const status = statusOf(error);
  const problem =
    PROBLEMS[name] ?? (status === undefined ? `can't be read: ${ownMessageOf(error)}` : 'was not sent');
  const told = status === undefined ? '' : ` (${status} ${name})`;
  const failure = new Error(`${source} ${problem}${told}`, { cause: error });
  const headers = pauseHeaders($response?.headers ?? {});
  const { 'retry-after': retryAfter } = headers;
  return Object.assign(failure, { status, headers }, retryAfter !== undefined && { retryAfter });
}

function statusOf(error: unknown): number | undefined {
  return (error as SdkError | undefined)?.$metadata?.httpStatusCode;
}
