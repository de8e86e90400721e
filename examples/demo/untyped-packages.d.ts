// The little that the demo uses of two packages that bring no types.

declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  function autocannon(options: autocannon.Options): autocannon.Instance;

  namespace autocannon {
    /** Lives from the set-up of a request to its response. */
    interface Context {
      code?: string | undefined;
      newest?: number;
    }

    interface Request {
      path: string;
    }

    interface Client {
      /** Closes its connection; the request under way gets no answer. */
      destroy(): void;
    }

    interface Options {
      readonly url: string;
      readonly connections: number;
      /** Seconds. */
      readonly duration: number;
      /** Seconds. */
      readonly timeout: number;
      readonly setupClient: (client: Client) => void;
      readonly requests: readonly {
        readonly setupRequest: (request: Request, context: Context) => Request;
        readonly onResponse: (
          status: number,
          body: string,
          context: Context,
          headers: Record<string, string>,
        ) => void;
      }[];
    }

    interface Result {
      /** Timeouts included. */
      readonly errors: number;
      readonly timeouts: number;
      readonly requests: { readonly sent: number; readonly total: number };
    }

    interface Instance extends EventEmitter, PromiseLike<Result> {
      stop(): void;
    }
  }

  export = autocannon;
}

declare module 'zipcodes' {
  const zipcodes: { readonly codes: Readonly<Record<string, zipcodes.Place>> };

  namespace zipcodes {
    interface Place {
      readonly zip: string;
      readonly latitude: number;
      readonly longitude: number;
      readonly city: string;
      readonly state: string;
      readonly country: string;
    }
  }

  export = zipcodes;
}
