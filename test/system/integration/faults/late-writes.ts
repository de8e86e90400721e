import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from './messages.ts';
import { LEASE, loadStarted, quiet, type Stage } from './scenario.ts';

/** How long a write lies on its way before the process is stopped there: a busy machine may take so long to stop it. */
const HELD_MS = 500;
/** The next one takes over, loads and publishes. */
const WITHIN_MS = 15_000;

/**
 * The holder stands still on its way to the store, after it has found its lease whole, for twice that lease and until
 * another one has published.
 * Nothing but the token keeps its write out now.
 *
 * @returns what the store answered to each.
 */
export async function lateWrites({ fleet }: Stage, times: number): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < 3 * times && answers.length < times; i++) {
    const { by, token } = await loadStarted(fleet);
    const isItsEnd = fleet.until(
      (told) =>
        told.by === by &&
        ((told.kind === 'write-held' && told.token === token) ||
          (told.kind === 'event' && told.type === 'published' && told.version === token)),
      WITHIN_MS,
    );
    fleet.behave({ writeHeldFor: HELD_MS }, [by]);
    const isHeld = (await isItsEnd).kind === 'write-held';
    if (isHeld) {
      const answer = await stopUntilOvertaken(fleet, by, token);
      if (answer !== undefined) answers.push(answer);
    }
    fleet.behave({ writeHeldFor: 0 }, [by]);
    await quiet();
  }
  return answers;
}

/** @returns `undefined`: on a busy machine it was in the store before the signal came. */
async function stopUntilOvertaken(
  fleet: Stage['fleet'],
  by: number,
  token: number,
): Promise<string | undefined> {
  const answered = fleet.until(
    (told) => told.by === by && told.kind === 'step' && told.step === 'write' && told.token === token,
    2 * WITHIN_MS,
  );
  const overtaken = fleet.until(
    (told) => told.kind === 'event' && told.type === 'published' && (told.version ?? 0) > token,
    WITHIN_MS,
  );
  fleet.signal(by, 'SIGSTOP');
  const stoppedAt = monotonic();
  await overtaken;
  await sleep(stoppedAt + 2 * LEASE - monotonic());
  fleet.signal(by, 'SIGCONT');
  const told = await answered;
  return told.kind === 'step' && told.begunAt > stoppedAt ? told.answer : undefined;
}
