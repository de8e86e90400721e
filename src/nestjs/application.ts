import type {
  Backend,
  Clock,
  CloseReport,
  DurationLike,
  Logger,
  RefreshGroup,
  SharedOptions,
} from '../index.ts';

/** A decorated member of a provider: a value, a cache or a task, which the application closes. */
export interface Closable {
  close(options?: { readonly timeout?: DurationLike | undefined }): Promise<CloseReport>;
}

/** The module of one application, as its decorated methods know it. */
export interface Application {
  readonly group: RefreshGroup;
  readonly backend: Backend | undefined;
  readonly lock: SharedOptions['lock'];
  readonly logger: Logger | false;
  readonly clock: Clock | undefined;
}

/** Several applications may live in one process: tests start one each. */
const applications = new WeakMap<object, Application>();

/** Makes the providers and controllers of an application known to their decorators. */
export function belongsTo(application: Application, instance: object): void {
  applications.set(instance, application);
}

/** @throws {TypeError} before `TicklessModule` has found the instance, and for one that it does not find. */
export function applicationOf(instance: object, decorator: string): Application {
  const application = applications.get(instance);
  if (application !== undefined) return application;
  const name = instance.constructor?.name ?? 'a provider';
  throw new TypeError(
    `@${decorator} of ${name}: TicklessModule has not found this instance. It finds providers and controllers that are ` +
      'singletons, before their onModuleInit: their constructors can not use the member yet',
  );
}
