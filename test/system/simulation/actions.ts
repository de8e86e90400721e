import { Caller } from './caller.ts';
import { changes } from './changes.ts';
import { drawDeed, drawScene } from './deed.ts';
import { type Instance, KEYS } from './instance.ts';
import { reads } from './reads.ts';
import type { World } from './world.ts';

/** Calls of readers and operators, at random times. */
export class Actions {
  readonly #world: World;
  readonly #caller: Caller;
  isOver: boolean = false;

  constructor(world: World) {
    this.#world = world;
    this.#caller = new Caller(world);
  }

  begin(): void {
    const { instances, readsEvery, changesEvery } = this.#world.scenario;
    const isOver = (): boolean => this.isOver;
    for (let index = 0; index < instances; index++) {
      this.#world.nowAndThen(index, readsEvery, isOver, (instance) => this.read(instance));
      if (changesEvery < Infinity)
        this.#world.nowAndThen(index, changesEvery, isOver, (instance) => this.#change(instance));
    }
  }

  end(): void {
    this.isOver = true;
  }

  /** One read or request of any kind. */
  read(instance: Instance): void {
    drawDeed(reads, this.#world.random).act(drawScene(this.#world, this.#caller, instance));
  }

  /** A caller forces a load. */
  refresh(instance: Instance): void {
    this.#caller.call(instance.subject('rates'), 'refresh', () => instance.rates.refresh({ here: true }));
  }

  /** Reads every subject. */
  readAll(instance: Instance): void {
    if (instance.machine.hasCrashed || instance.closing !== 'no') return;
    instance.machine.isTouched = true;
    for (const name of ['rates', 'local', 'calendar'] as const) {
      this.#caller.call(instance.subject(name), 'get', () => instance[name].get());
    }
    for (const key of KEYS) {
      this.#caller.call(instance.subject(`codes[${key}]`), 'get', () => instance.codes.get(key));
    }
    this.#caller.call(instance.subject('report'), 'request', () => instance.report.requestStart());
  }

  #change(instance: Instance): void {
    drawDeed(changes, this.#world.random).act(drawScene(this.#world, this.#caller, instance));
  }
}
