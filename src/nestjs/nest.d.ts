// The part of NestJS 11 and 12 that this room uses: NestJS is an optional peer and not installed here. `scripts/nestjs.mjs` compiles
// this room against the types of both versions, and the published declarations refer to those that the user has.

declare module '@nestjs/common' {
  export type InjectionToken = string | symbol | (abstract new (...args: never[]) => unknown);
  export interface FactoryProvider<T = unknown> {
    provide: InjectionToken;
    // biome-ignore lint/suspicious/noExplicitAny: as NestJS declares it
    useFactory: (...args: any[]) => T | Promise<T>;
    inject?: InjectionToken[];
  }
  export type Provider = FactoryProvider | { provide: InjectionToken; useClass: unknown };
  type OptionsFactory<Options> = { create(): Options | Promise<Options> };
  export interface ConfigurableModuleAsyncOptions<Options> extends Pick<ModuleMetadata, 'imports'> {
    useExisting?: new (...args: never[]) => OptionsFactory<Options>;
    useClass?: new (...args: never[]) => OptionsFactory<Options>;
    // biome-ignore lint/suspicious/noExplicitAny: as NestJS declares it
    useFactory?: (...args: any[]) => Options | Promise<Options>;
    inject?: NonNullable<FactoryProvider['inject']>;
  }
  export class ConfigurableModuleBuilder<Options> {
    constructor(options: { moduleName: string });
    build(): {
      ConfigurableModuleClass: {
        registerAsync(options: ConfigurableModuleAsyncOptions<Options>): DynamicModule;
      };
      MODULE_OPTIONS_TOKEN: string | symbol;
    };
  }
  export interface DynamicModule {
    module: new (...args: never[]) => unknown;
    global?: boolean;
    imports?: NonNullable<ModuleMetadata['imports']>;
    providers?: Provider[];
    exports?: InjectionToken[];
  }
  export interface ModuleMetadata {
    imports?: (DynamicModule | Promise<DynamicModule> | (new (...args: never[]) => unknown))[];
  }
  export class Logger {
    constructor(context: string);
    warn(message: unknown): void;
    error(message: unknown): void;
  }
  export function Module(metadata: ModuleMetadata): (target: new (...args: never[]) => unknown) => void;
  export function Inject(token: InjectionToken): (target: object, key: undefined, index: number) => void;
}

declare module '@nestjs/core' {
  export class DiscoveryModule {}
  export interface InstanceWrapper {
    readonly instance: unknown;
    readonly isTransient: boolean;
    isDependencyTreeStatic(): boolean;
  }
  export class DiscoveryService {
    constructor(modules: ModulesContainer);
    getProviders(): InstanceWrapper[];
    getControllers(): InstanceWrapper[];
  }
  export class HttpAdapterHost {
    readonly httpAdapter: { use(handler: unknown): unknown };
  }
  export class ModulesContainer extends Map<string, { readonly metatype: unknown; distance: number }> {}
}
