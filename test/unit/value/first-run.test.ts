import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { cron, dailyAt, duringHours } from '../../../src/calendar/index.ts';
import {
  type Execution,
  earliest,
  PeriodicExecutor,
  RefreshGroup,
  type TaskOptions,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const NOON = '2026-03-27T12:00:00Z';

function executor(options: Partial<TaskOptions> & { readonly clock: FakeClock }) {
  const runs: string[] = [];
  const { clock } = options;
  const task = (): void => {
    runs.push(new Date(clock.now()).toISOString());
  };
  const mail = new PeriodicExecutor(task, {
    name: 'mail',
    schedule: dailyAt('05:00', { zone: 'UTC' }),
    ...options,
  });
  return { mail, runs, clock };
}

afterEach(() => vi.unstubAllEnvs());

/** A probe each hour. */
async function probe({ mail, clock }: ReturnType<typeof executor>, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    await mail.requestStart();
    await clock.flush();
    await clock.advance({ hours: 1 });
  }
}

describe('firstRun', () => {
  test.each([
    ['dailyAt', dailyAt('05:00', { zone: 'UTC' }), '2026-03-28T05:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['cron', cron('0 5 * * *', { zone: 'UTC' }), '2026-03-28T05:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['a duration', { hours: 30 }, '2026-03-28T18:00:00.000Z', undefined],
    [
      'duringHours',
      duringHours({ hours: 20 }, { from: '09:00', to: '17:00', zone: 'UTC' }),
      '2026-03-28T09:00:00.000Z',
      '2026-03-29T09:00:00.000Z',
    ],
    [
      'a function',
      ({ endedAt }: Execution) => endedAt + 7_200_000,
      '2026-03-27T14:00:00.000Z',
      '2026-03-27T16:00:00.000Z',
    ],
  ])('scheduled: %s decides on the first run too', async (_, schedule, first, second) => {
    const one = executor({ clock: new FakeClock({ now: NOON }), schedule, firstRun: 'scheduled' });
    await probe(one, 47);
    expect(one.runs.slice(0, 2)).toEqual(second === undefined ? [first] : [first, second]);
  });

  test('an instant that passed between the start and the first request is due', async () => {
    const one = executor({ clock: new FakeClock({ now: '2026-03-27T04:59:00Z' }), firstRun: 'scheduled' });
    await one.clock.advance({ minutes: 3 });
    await probe(one, 1);
    expect(one.runs).toEqual(['2026-03-27T05:02:00.000Z']);
  });

  test('until it is due nothing has run, by its state and its health', async () => {
    const clock = new FakeClock({ now: NOON });
    const group = new RefreshGroup({ clock, logger: false });
    const mail = group.executor(() => {}, {
      name: 'mail',
      schedule: dailyAt('05:00', { zone: 'UTC' }),
      firstRun: 'scheduled',
      required: true,
    });
    expect((await group.ready({ timeout: 0 })).ok).toBe(true);
    group.requestStart();
    await clock.flush();
    expect(mail.inspect()).toMatchObject({
      isDue: false,
      running: false,
      lastStartedAt: undefined,
      lastEndedAt: undefined,
      nextExecuteTime: Date.parse('2026-03-28T05:00:00Z'),
    });
    expect(await mail.runs()).toEqual([]);
    await clock.advance({ hours: 17 });
    group.requestStart();
    await clock.flush();
    expect(await mail.runs()).toHaveLength(1);
    expect(mail.inspect().lastEndedAt).toBe(Date.parse('2026-03-28T05:00:00Z'));
  });

  test('a subclass with fields of its own says when', async () => {
    const clock = new FakeClock({ now: NOON });
    class Hourly extends PeriodicExecutor {
      readonly #delayMs: number = 3_600_000;
      protected override nextExecuteTime({ endedAt }: Execution): number {
        return endedAt + this.#delayMs;
      }
    }
    const group = new RefreshGroup({ clock });
    const hourly = new Hourly(() => {}, { name: 'hourly', firstRun: 'scheduled', group });
    expect(hourly.inspect().nextExecuteTime).toBe(Date.parse('2026-03-27T13:00:00Z'));
  });

  test('follows a step of the wall clock and another schedule', async () => {
    const { mail, clock } = executor({ clock: new FakeClock({ now: NOON }), firstRun: 'scheduled' });
    expect(mail.inspect().isDue).toBe(false);
    clock.stepWall({ hours: 20 });
    expect(mail.inspect().isDue).toBe(true);
    mail.reschedule(dailyAt('09:00', { zone: 'UTC' }));
    expect(mail.inspect().nextExecuteTime).toBe(Date.parse('2026-03-28T09:00:00Z'));
    mail.reschedule(Infinity);
    expect(mail.inspect().nextExecuteTime).toBe(Infinity);
  });

  test('execute runs it at once', async () => {
    const { mail, runs } = executor({ clock: new FakeClock({ now: NOON }), firstRun: 'scheduled' });
    await mail.execute();
    expect(runs).toHaveLength(1);
    expect(mail.inspect().nextExecuteTime).toBe(Date.parse('2026-03-28T05:00:00Z'));
  });

  test('a failure of the first run cools down, and is not made up for by each request', async () => {
    const clock = new FakeClock({ now: NOON });
    let runs = 0;
    const task = (): void => {
      runs += 1;
      throw new Error('no');
    };
    const mail = new PeriodicExecutor(task, {
      name: 'mail',
      schedule: dailyAt('05:00', { zone: 'UTC' }),
      firstRun: 'scheduled',
      coolDown: '1m',
      retry: false,
      logger: false,
      random: () => 0.999,
      clock,
    });
    await clock.advance({ hours: 17 });
    for (let second = 0; second < 50; second++) {
      await mail.requestStart();
      await clock.advance('1s');
    }
    expect(runs).toBe(1);
    expect(mail.inspect()).toMatchObject({ failures: 1, lastEndedAt: undefined });
  });

  test('a broken schedule is a failure', () => {
    const { mail } = executor({
      clock: new FakeClock({ now: NOON }),
      schedule: () => Number.NaN,
      firstRun: 'scheduled',
      logger: false,
    });
    expect(mail.inspect().lastError?.message).toContain('schedule must be a future instant');
    expect(mail.inspect().failures).toBe(1);
  });

  test('with a lock one instance runs it, once', async () => {
    const clock = new FakeClock({ now: NOON });
    const backend = memoryBackend({ clock });
    const [one, two] = [1, 2].map(() => executor({ clock, backend, firstRun: 'scheduled' }));
    for (let hour = 0; hour < 42; hour++) {
      await Promise.all([one?.mail.requestStart(), two?.mail.requestStart()]);
      await clock.flush();
      await clock.advance({ hours: 1 });
    }
    expect([...(one?.runs ?? []), ...(two?.runs ?? [])]).toEqual([
      '2026-03-28T05:00:00.000Z',
      '2026-03-29T05:00:00.000Z',
    ]);
  });

  test('is checked with the other options', () => {
    const given = { name: 'mail', firstRun: 'later' } as unknown as TaskOptions;
    expect(() => new PeriodicExecutor(() => {}, given)).toThrow(
      /firstRun must be 'now' or 'scheduled'|firstRun/,
    );
  });

  describe('in development', () => {
    const five = dailyAt('05:00', { zone: 'UTC' });
    const adviceOn = (options: Omit<Partial<TaskOptions>, 'clock'>): readonly string[] => {
      vi.stubEnv('NODE_ENV', 'development');
      const lines: string[] = [];
      const logger = { warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) };
      executor({ clock: new FakeClock({ now: NOON }), logger, ...options });
      return lines;
    };

    test.each([
      ['dailyAt', five],
      ['cron', cron('0 5 * * *')],
      ['duringHours', duringHours('10m', { from: '09:00', to: '17:00' })],
      ['withJitter around it', withJitter(five, '5m')],
      ['earliest of two', earliest(five, cron('0 17 * * *'))],
    ])('%s without a choice is one line of advice', (_, schedule) => {
      expect(adviceOn({ schedule })).toEqual([expect.stringContaining("Write firstRun: 'scheduled'")]);
    });

    test.each([
      ['a choice', { schedule: five, firstRun: 'now' }],
      ['a duration', { schedule: '10m' }],
      ['a duration that a calendar schedule only shortens', { schedule: earliest('1h', five) }],
    ] as const)('%s is none', (_, options) => {
      expect(adviceOn(options)).toEqual([]);
    });
  });
});
