import { type LockedDecorator, type LockedDecoratorOptions, locked } from '../decorators/locked.ts';
import { optionsOf } from '../decorators/per-instance.ts';
import {
  type RefreshingDecorator,
  type RefreshingDecoratorOptions,
  refreshing,
} from '../decorators/refreshing.ts';
import { applicationOf } from './application.ts';

/** The options of {@link Refreshing}: those of `refreshing` of `tickless/decorators`. None is required. */
export type RefreshingMethodOptions = Omit<RefreshingDecoratorOptions, 'group'>;

/**
 * The options of {@link Locked}: those of `locked` of `tickless/decorators`. None is required: `backend` and `lock` are by default those of
 * the options of `TicklessModule`.
 */
export type LockedMethodOptions = LockedDecoratorOptions;

/**
 * Keeps fresh what a method or getter of a provider or controller returns, as a member of the group of `TicklessModule`: with
 * its defaults, and its backend where it has one. The arguments of the method are the key.
 *
 * ```ts ignore
 * @Injectable()
 * class Cities {
 *   @Refreshing({ schedule: '10m', max: 10_000 })
 *   async city(code: string): Promise<string> {
 *     return fetchCity(code);
 *   }
 * }
 * ```
 *
 * The member is made when the application starts, before `onModuleInit` of its provider, so `required` needs no further
 * decorator. It is named `Cities.city` by default. Only singletons are found: a first use in a
 * constructor, or in a provider with the scope of a request, throws a `TypeError`.
 *
 * @throws {TypeError} on anything but a method or a getter.
 */
export function Refreshing<This extends object>(
  options?: RefreshingMethodOptions | ((instance: This) => RefreshingMethodOptions),
): RefreshingDecorator {
  return refreshing<This>((instance) => ({
    ...optionsOf(options, instance),
    group: applicationOf(instance, 'Refreshing').group,
  }));
}

/**
 * Guards a method of a provider or controller that a scheduler calls on every instance of the service: it runs on one of them at
 * a time, as with `lockedTask`. A method that was not run resolves with `undefined`.
 *
 * ```ts ignore
 * @Injectable()
 * class Reports {
 *   @Cron('0 5 * * *')
 *   @Locked({ lockAtMostFor: '10m', lockAtLeastFor: '1m' })
 *   async send(): Promise<void> {}
 * }
 * ```
 *
 * The lock is named `Reports.send` by default. The runs are kept in the backend of the
 * module, for operators. `lockedTaskOf(reports, 'send')` of `tickless/decorators` has the outcome of a call.
 *
 * @throws {TypeError} on anything but a method.
 */
export function Locked<This extends object>(
  options?: LockedMethodOptions | ((instance: This) => LockedMethodOptions),
): LockedDecorator {
  return locked<This>((instance) => lockedBy(optionsOf(options, instance), instance));
}

/** Options with what the module gives. A method's own backend or lock replaces those of the module. */
export function lockedBy(given: LockedMethodOptions | undefined, instance: object): LockedDecoratorOptions {
  const { backend, lock, logger, clock } = applicationOf(instance, 'Locked');
  if (given?.lock !== undefined || given?.backend !== undefined) return { logger, clock, ...given };
  return { logger, clock, backend, lock, ...given };
}
