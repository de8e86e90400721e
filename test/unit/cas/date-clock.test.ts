import { describe, expect, it } from 'vitest';
import { DateClock } from '../../../src/backends/cas/date-clock.ts';

/** A server whose clock is ahead of the machine's, and the machine's clock. */
class World {
  machine = 5000;
  ahead: number = Date.UTC(2026, 0, 1) + 123;
  readonly clock: DateClock;
  readonly #staleMs: number;

  constructor(staleMs = 0) {
    this.clock = new DateClock(() => this.machine, staleMs);
    this.#staleMs = staleMs;
  }

  /** A request that takes 5 ms there and 7 ms back. */
  ask(date?: string): void {
    const sentAt = this.clock.now();
    this.machine += 5;
    const made = new Date(this.machine + this.ahead - this.#staleMs).toUTCString();
    this.machine += 7;
    this.clock.learn(date ?? made, sentAt);
  }

  /** Many requests, at any part of a second. */
  askOften(each: (i: number) => void = () => {}): void {
    for (let i = 0; i < 100; i += 1) {
      this.machine += 37 * (i % 10);
      each(i);
      this.ask();
    }
  }

  /** The right time, between the bounds; and how far these are apart. */
  check(): { readonly isRight: boolean; readonly width: number } {
    const { earliest, latest } = this.clock.span();
    const now = this.machine + this.ahead;
    return { isRight: earliest <= now && now <= latest, width: latest - earliest };
  }
}

describe('DateClock', () => {
  it('knows nothing before the first response with a date', () => {
    const world = new World();
    expect(() => world.clock.span()).toThrow('no answer of the server has had its clock');
    world.ask('yesterday, or so');
    expect(() => world.clock.span()).toThrow('no answer of the server has had its clock');
  });

  it('knows the clock to a second by the first response, and to the length of a command by many', () => {
    const world = new World();
    const widths = Array.from({ length: 100 }, () => {
      world.machine += 97; // meets other parts of a second each time
      world.ask();
      const { isRight, width } = world.check();
      expect(isRight).toBe(true);
      return width;
    });
    expect(widths[0]).toBeCloseTo(1012);
    expect(widths.at(-1)).toBeLessThan(40);
  });

  it.each([
    [100, 50],
    [1000, 120],
    [10_000, 350],
    [60_000, 750],
  ])('a command each %d ms, more or less: 95 % of the time the clock is known to %d ms', (ms, width) => {
    const world = new World();
    const widths = Array.from({ length: 3000 }, (_, i) => {
      world.machine += ms * (0.5 + ((i * 0.618034) % 1));
      const { isRight, width: known } = i === 0 ? { isRight: true, width: 0 } : world.check();
      expect(isRight).toBe(true);
      world.ask();
      return known;
    });
    expect(widths.sort((a, b) => a - b)[0.95 * 3000]).toBeLessThan(width);
  });

  it('is right though a server keeps its header for a moment', () => {
    const world = new World(100);
    for (let i = 0; i < 100; i += 1) {
      world.machine += 97;
      world.ask();
      expect(world.check().isRight).toBe(true);
    }
  });

  it('leaves room for the drift of the machine’s clock, and finds back', () => {
    const world = new World();
    world.askOften();
    world.machine += 100_000;
    world.ahead += 30; // 300 ppm
    expect(world.check().isRight).toBe(true);
    expect(world.check().width).toBeGreaterThan(50);
    world.ask();
    expect(world.check().isRight).toBe(true);
  });

  it.each([3_600_000, -3_600_000])('follows a clock that is set by %d ms at the next response', (ms) => {
    const world = new World();
    for (let i = 0; i < 10; i += 1) world.ask();
    world.ahead += ms;
    world.ask();
    expect(world.check()).toEqual({ isRight: true, width: expect.closeTo(1012) });
  });

  it('of two servers whose clocks differ a little it knows both', () => {
    const world = new World();
    world.askOften();
    const own = world.ahead;
    for (let i = 0; i < 100; i += 1) {
      world.machine += 37 * (i % 10);
      world.ahead = own + (i % 2 === 0 ? 0 : 100);
      world.ask();
      expect(world.check().width).toBeLessThan(300);
    }
  });
});
