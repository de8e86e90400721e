import type { Call } from '../callable/refreshing.ts';
import { type LockedTask, type LockedTaskOptions, lockedTask } from '../cluster/locked-task.ts';
import { ownOptions } from '../option-checks.ts';
import { type AsyncMethod, type Decorated, type DecoratorContext, decorator } from './decorate.ts';
import { claimName, madeFor, nameFor, optionsOf, PerInstance } from './per-instance.ts';

/** The options of `@locked`: those of `lockedTask`. `backend` or `lock` is required. */
export interface LockedDecoratorOptions extends Omit<LockedTaskOptions, 'name'> {
  /**
   * The name of the lock: the same on all instances of the service. A function gets the arguments of the call, and the
   * instance as `this`. It must be given where a build renames classes, with a class without a name, and where another method
   * could have the same: see `refreshing`.
   * @default the names of class and method, `Reports.send` (of a method that another class overrides `Base.send of Reports`)
   */
  readonly name?: string | ((...args: never[]) => string) | undefined;
}

/** The promise of the method may have no result: it has none where the method is not run. */
type MaySkip<M extends AsyncMethod> = M extends (...args: never[]) => Promise<infer R>
  ? undefined extends R // also where it is void
    ? unknown
    : never
  : never;

/** A decorator of methods whose promise may have no result. */
export interface LockedDecorator {
  /** By the standard. */
  <M extends AsyncMethod>(method: M, context: DecoratorContext<'method'> & MaySkip<M>): M;
  /** With `experimentalDecorators`. */
  <M extends AsyncMethod>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M> & MaySkip<M>,
  ): TypedPropertyDescriptor<M>;
}

/**
 * Guards a method that a scheduler calls on every instance of a service (`@Cron` of NestJS, and the like): it runs on one
 * of them at a time, as with `lockedTask`.
 *
 * ```ts ignore
 * class Reports {
 *   constructor(readonly backend: Backend) {}
 *
 *   @Cron('0 5 * * *')
 *   @locked<Reports>(({ backend }) => ({ name: 'reports', backend, lockAtMostFor: '10m', lockAtLeastFor: '1m' }))
 *   async send(): Promise<void> {
 *     await this.sendAll();
 *   }
 * }
 * ```
 *
 * The method resolves with `undefined` where another instance runs it, or has run it; else with its own result. It rejects as
 * `lockedTask` does; a task that needs the `signal` or the token of its lease is a `lockedTask`. {@link lockedTaskOf} returns the task, which has the outcome of a call, `register` and `close`.
 *
 * For standard decorators and `experimentalDecorators`, above or below that of the scheduler. Options that break a rule make
 * the first call throw an `OPTION` error: they may depend on the instance.
 *
 * @throws {TypeError} on anything but a method.
 */
export function locked<This extends object>(
  options: LockedDecoratorOptions | ((instance: This) => LockedDecoratorOptions),
): LockedDecorator {
  return decorator('locked', ['method'], (decorated) => {
    const made: PerInstance<LockedTask<unknown[], unknown>> = new PerInstance(
      'locked',
      decorated,
      (instance) =>
        make(decorated, instance, optionsOf(options, instance), nameFor(instance, decorated, made)),
    );
    return made.mark(async function (this: unknown, ...args: unknown[]) {
      const outcome = await made.of(this)(...args);
      return outcome.kind === 'executed' ? outcome.result : undefined;
    });
  });
}

function make(
  { original }: Decorated,
  instance: object,
  options: LockedDecoratorOptions | undefined,
  known: string | undefined,
): LockedTask<unknown[], unknown> {
  const { name: ownName, ...given } = ownOptions(options ?? ({} as LockedDecoratorOptions));
  const name = ownName ?? known;
  if (ownName === undefined && known !== undefined) claimName(instance, known, [given.backend, given.lock]);
  return lockedTask((_context, ...args: unknown[]) => (original as Call).apply(instance, args), {
    ...(given as Omit<LockedTaskOptions<unknown[]>, 'name'>),
    name:
      typeof name === 'function'
        ? (...args: unknown[]) => (name as Call).apply(instance, args) as string
        : (name as string),
  });
}

/** The task behind a property of type `M`. */
export type LockedTaskOf<M> = M extends (...args: infer A) => Promise<infer R> ? LockedTask<A, R> : never;

/**
 * The task behind a decorated method of an instance: `await lockedTaskOf(reports, 'send').register()`. Runs nothing.
 *
 * @throws {TypeError} when the property is not decorated with `@locked`.
 * @throws {TicklessError} `OPTION` when it is made now, and an option breaks a rule.
 */
export function lockedTaskOf<T extends object, K extends keyof T>(instance: T, name: K): LockedTaskOf<T[K]> {
  return madeFor('locked', instance, name) as LockedTaskOf<T[K]>;
}
