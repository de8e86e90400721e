import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { locked, refreshing, refreshingOf } from '../../../src/decorators/index.ts';
import { isTicklessError } from '../../../src/index.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

type Method = (...args: unknown[]) => unknown;
type Decorate = (...args: unknown[]) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: whatever methods it has
type AnyClass = new () => any;

/** Decorates a method or getter of a prototype or class as a compiler does. */
type By = (decorate: unknown, target: object, key: PropertyKey) => void;

const standard: By = (decorate, target, key) => {
  const { value, get } = Object.getOwnPropertyDescriptor(target, key)!;
  const context = { kind: get ? 'getter' : 'method', name: key, addInitializer() {} };
  const replaced = (decorate as Decorate)(get ?? value, context);
  Object.defineProperty(target, key, get ? { get: replaced as () => unknown } : { value: replaced });
};

const experimental: By = (decorate, target, key) => {
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  Object.defineProperty(target, key, (decorate as Decorate)(target, key, descriptor) as PropertyDescriptor);
};

/** Wraps a method, as a decorator above does. */
function wrap(target: object, key: PropertyKey): void {
  const { value } = Object.getOwnPropertyDescriptor(target, key)!;
  Object.defineProperty(target, key, {
    value(this: object, ...args: unknown[]) {
      return (value as Method).apply(this, args);
    },
  });
}

const nameOf = (one: object, key: PropertyKey): string =>
  (refreshingOf(one as never, key as never) as { inspect(): { name: string } }).inspect().name;

describe.each([
  ['standard', standard],
  ['experimental', experimental],
] as const)('names by default, %s', (_, by) => {
  /** Three classes that extend each other; each calls the method of the one before. */
  function prices(decorate: () => unknown, runs: string[] = []): AnyClass[] {
    class Base {
      async price(): Promise<string> {
        runs.push('Base');
        return 'net';
      }
    }
    class Middle extends Base {
      override async price(): Promise<string> {
        runs.push('Middle');
        return `middle of ${await super.price()}`;
      }
    }
    class Derived extends Middle {
      override async price(): Promise<string> {
        runs.push('Derived');
        return `gross of ${await super.price()}`;
      }
    }
    const all = [Base, Middle, Derived];
    for (const one of all) by(decorate(), one.prototype, 'price');
    return all;
  }

  it.each(['lock', 'backend'] as const)(
    'an override and what it overrides have their own: nothing waits, and a second instance reads the same (%s)',
    async (kind) => {
      const backend = memoryBackend();
      const options = { logger: false, schedule: '1h', [kind]: backend };
      const Derived = prices(() => refreshing(options as never))[2]!;
      const [first, second] = [new Derived(), new Derived()] as { price(): Promise<string> }[];
      expect(await first!.price()).toBe('gross of middle of net');
      expect(await second!.price()).toBe('gross of middle of net');
      const again = refreshingOf(new Derived() as { price(): Promise<string> }, 'price');
      expect(await again.refresh()).toBe('gross of middle of net');
      expect(nameOf(first!, 'price')).toBe('Derived.price');
    },
  );

  it('a locked method runs the one that it overrides', async () => {
    const lock = lockOf(memoryBackend());
    const runs: string[] = [];
    const [Base, Middle, Derived] = prices(() => locked({ lock, lockAtMostFor: '10s' } as never), runs);
    await (new Derived!() as { price(): Promise<string> }).price();
    expect(runs).toEqual(['Derived', 'Middle', 'Base']);
    await (new Middle!() as { price(): Promise<string> }).price();
    await (new Base!() as { price(): Promise<string> }).price();
    expect((await lock.list()).map(({ name }) => name).toSorted()).toEqual([
      'Base.price',
      'Base.price of Derived',
      'Base.price of Middle',
      'Derived.price',
      'Middle.price',
      'Middle.price of Derived',
    ]);
  });

  it('getters too', async () => {
    const backend = memoryBackend();
    class Base {
      get all(): Promise<string> {
        return Promise.resolve('net');
      }
    }
    class Derived extends Base {
      override get all(): Promise<string> {
        return super.all.then((all) => `gross of ${all}`);
      }
    }
    for (const one of [Base, Derived]) by(refreshing({ backend }), one.prototype, 'all');
    expect(await new Derived().all).toBe('gross of net');
    expect(await new Derived().all).toBe('gross of net');
  });

  it('static methods too, and one beside a method of its name', async () => {
    const backend = memoryBackend();
    // biome-ignore lint/complexity/noStaticOnlyClass: it is about static methods
    class Base {
      static async all(): Promise<string> {
        return 'static';
      }
    }
    class Derived extends Base {
      static override async all(): Promise<string> {
        // biome-ignore lint/complexity/noThisInStatic: it is about super
        return `derived of ${await super.all()}`;
      }
      async all(): Promise<string> {
        return 'instance';
      }
    }
    for (const one of [Base, Derived, Derived.prototype]) by(refreshing({ backend }), one, 'all');
    expect([await Derived.all(), await new Derived().all(), await Base.all()]).toEqual([
      'derived of static',
      'instance',
      'static',
    ]);
    expect([nameOf(Derived, 'all'), nameOf(new Derived(), 'all'), nameOf(Base, 'all')]).toEqual([
      'static Derived.all',
      'Derived.all',
      'Base.all',
    ]);
  });

  it('a class that only inherits has its own', () => {
    const [, Middle] = prices(() => refreshing());
    class Other extends (Middle!) {}
    expect(nameOf(new Other(), 'price')).toBe('Other.price');
  });

  it('a mixin that is applied twice needs a name', async () => {
    const backend = memoryBackend();
    const mixed = (Of: AnyClass): AnyClass => {
      class Mixed extends Of {
        async all(): Promise<string> {
          const above = (super.all as undefined | (() => Promise<string>)) ?? (async () => 'none');
          return `one of ${await above.call(this)}`;
        }
      }
      by(refreshing({ backend, retry: false, logger: false }), Mixed.prototype, 'all');
      return Mixed;
    };
    class Service extends mixed(mixed(mixed(Object))) {}
    const error = await rejectionOf((new Service() as { all(): Promise<string> }).all());
    expect(String(error)).toContain('name must be given');
  });

  it('symbols with one description need a name', () => {
    const backend = memoryBackend();
    const [one, other] = [Symbol('all'), Symbol('all')];
    class Service {
      async [one](): Promise<string> {
        return 'one';
      }
      async [other](): Promise<string> {
        return 'other';
      }
      async [Symbol.for('third')](): Promise<string> {
        return 'third';
      }
    }
    for (const key of Reflect.ownKeys(Service.prototype).filter((each) => typeof each === 'symbol'))
      by(refreshing({ backend }), Service.prototype, key);
    const service = new Service() as unknown as Record<symbol, Method>;
    expect(() => service[one]!()).toThrow('name must be given');
    expect(() => service[other]!()).toThrow('name must be given');
    expect(nameOf(service, Symbol.for('third'))).toBe('Service.Symbol(third)');
  });

  it('two classes of one name at one backend: the second needs a name; at another one it does not', async () => {
    const service = (options: object): AnyClass => {
      class Service {
        async all(): Promise<string> {
          return 'all';
        }
        async send(): Promise<void> {}
      }
      by(refreshing(options), Service.prototype, 'all');
      by(locked(options as never), Service.prototype, 'send');
      return Service;
    };
    type Service = { all(): Promise<string>; send(): Promise<void> };
    const { lock } = memoryBackend();
    const [First, Second, Third, Fourth] = [
      service({ lock }),
      service({ lock }),
      service({ lock: lockOf(memoryBackend()) }),
      service({ lock: memoryBackend() }),
    ];
    for (const One of [First, Third, Fourth]) await (new One!() as Service).all();
    for (const One of [First, Third, Fourth]) await (new One!() as Service).send();
    await (new First!() as Service).all();
    expect(() => (new Second!() as Service).all()).toThrow(
      'another class than this one has the name Service.all',
    );
    const error = await rejectionOf((new Second!() as Service).send());
    expect(isTicklessError(error, 'OPTION') && error.message).toContain('has the name Service.send');
  });

  it('a class without a name has none, nor one whose name is no text', () => {
    const backend = memoryBackend();
    const Service = (() =>
      class {
        async all(): Promise<string> {
          return 'all';
        }
      })();
    class Named {
      static readonly name: unknown = () => 'x';
      async all(): Promise<string> {
        return 'all';
      }
    }
    for (const One of [Service, Named]) {
      by(refreshing({ backend }), One.prototype, 'all');
      expect(() => new One().all()).toThrow('name must be given');
    }
  });
});

describe('names by default', () => {
  it('are not there inside of another decorator, where a method overrides another one', async () => {
    const { lock } = memoryBackend();
    class Base {
      async send(): Promise<void> {}
      async once(): Promise<void> {}
    }
    class Derived extends Base {
      override async send(): Promise<void> {
        await super.send();
      }
    }
    for (const { prototype } of [Base, Derived]) {
      standard(locked({ lock } as never), prototype, 'send');
      wrap(prototype, 'send');
    }
    standard(locked({ lock } as never), Base.prototype, 'once');
    wrap(Base.prototype, 'once');
    expect(isTicklessError(await rejectionOf(new Derived().send()), 'OPTION')).toBe(true);
    await new Derived().once();
    await new Base().send();
    expect((await lockOf({ lock }).list()).map(({ name }) => name).toSorted()).toEqual([
      'Base.send',
      'Derived.once',
    ]);
  });

  it('private methods of classes that extend each other have none', async () => {
    const backend = memoryBackend();
    const named = refreshing({ backend }) as unknown as Decorate;
    const about = { kind: 'method', name: '#all', private: true, addInitializer() {} };
    const all = named(async () => 'all', about) as Method;
    class Base {}
    class Derived extends Base {}
    expect(await all.call(new Base())).toBe('all');
    expect(() => all.call(new Derived())).toThrow('name must be given');
  });
});
