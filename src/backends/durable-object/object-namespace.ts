/** The options of a backend in a Durable Object that concern the object. */
export interface DurableObjectOptions {
  /** The binding of the class `TicklessObject` of `tickless/durable-object`: `env.TICKLESS`. It may be kept over requests. */
  readonly binding: ObjectNamespace;
  /**
   * The name of the object that has the records. An object takes some hundred requests a
   * second: choose several names, and divide the members among them, for more. Not empty. @default 'tickless'
   */
  readonly object?: string | undefined;
}

/** The used part of a `DurableObjectNamespace`. */
export interface ObjectNamespace {
  idFromName(name: string): object;
  get(id: object): ObjectStub;
}

/** The used part of a `DurableObjectStub`. */
interface ObjectStub {
  fetch(
    url: string,
    init: { method: 'POST'; body: string; signal: AbortSignal },
  ): PromiseLike<ObjectResponse>;
}

/** The used part of a `Response`. */
interface ObjectResponse {
  readonly status: number;
  text(): PromiseLike<string>;
}
