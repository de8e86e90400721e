import { callUserCode } from './call-user-code.ts';
import type { SafeLogger } from './logger.ts';

/**
 * Keeps the invocation alive until a promise settles, where a platform freezes it as soon as it has answered
 * (`ctx.waitUntil` of Cloudflare Workers, `waitUntil` of Vercel). The promise never rejects.
 */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Passes a promise to a platform's `waitUntil`. An error of the platform is logged. */
export function passToPlatform(waitUntil: WaitUntil, promise: Promise<unknown>, logger: SafeLogger): void {
  callUserCode(
    () => waitUntil(promise),
    (error) => logger.fault('waitUntil threw', error),
  );
}
