import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Kind } from './kind.ts';
import type { RealServer } from './server.ts';
import { startServer } from './server-process.ts';

const require = createRequire(import.meta.url);

/** The bucket that it begins with. */
export const BUCKET = 'reference-data';

/** Starts an s3rver: a server of the API of S3, with its objects in files. It has no versions of objects. */
export function startS3rver(): Promise<RealServer<'s3rver'>> {
  return startServer(KIND);
}

const KIND: Kind<'s3rver'> = {
  kind: 's3rver',
  label: 's3rver',
  version: (require('s3rver/package.json') as { version: string }).version,
  keepsData: true,
  saysReady: /listening on/,
  command: ({ port, directory }) => ({
    file: process.execPath,
    args: [
      join(require.resolve('s3rver/package.json'), '../bin/s3rver.js'),
      ...['--address', '127.0.0.1', '--port', `${port}`, '--directory', join(directory, 'objects')],
      ...['--configure-bucket', BUCKET],
    ],
  }),
  url: ({ port }) => `http://127.0.0.1:${port}`,
  count() {
    throw new Error('s3rver counts no commands by clients');
  },
};
