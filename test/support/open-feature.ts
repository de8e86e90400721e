import {
  type Client,
  type EvaluationDetails,
  type FlagValue,
  OpenFeature,
  type Provider,
  ProviderEvents,
} from '@openfeature/server-sdk';
import type { FlagdEvaluator } from '../../src/openfeature/index.ts';

let clients = 0;

/** A provider in the real SDK, in a domain of its own: the API is one for the process. */
export interface Registered {
  readonly domain: string;
  readonly client: Client;
  /** The types of the events that handlers of the client have got, with the message or the names of the flags. */
  readonly events: unknown[];
}

/** @returns when the provider is initialized, or has failed to. */
export async function registered(provider: Provider): Promise<Registered> {
  clients += 1;
  const domain = `domain ${clients}`;
  const client = OpenFeature.getClient(domain);
  const events: unknown[] = [];
  for (const type of Object.values(ProviderEvents)) {
    client.addHandler(type, (details) => {
      const told = details?.message ?? (details as { flagsChanged?: string[] } | undefined)?.flagsChanged;
      events.push(told === undefined ? type : [type, told]);
    });
  }
  events.length = 0; // of the provider before, which is ready
  await OpenFeature.setProviderAndWait(domain, provider).catch(() => undefined);
  return { domain, client, events };
}

/** The details of a flag in the type of that default. */
export function detailsOf(
  client: Client,
  name: string,
  defaultValue: FlagValue,
  context = {},
): Promise<EvaluationDetails<FlagValue>> {
  if (typeof defaultValue === 'boolean') return client.getBooleanDetails(name, defaultValue, context);
  if (typeof defaultValue === 'string') return client.getStringDetails(name, defaultValue, context);
  if (typeof defaultValue === 'number') return client.getNumberDetails(name, defaultValue, context);
  return client.getObjectDetails(name, defaultValue, context);
}

interface VarFlag {
  readonly variants: Readonly<Record<string, FlagValue>>;
  readonly defaultVariant: string;
  readonly targeting: { readonly var?: string };
}

/** In place of `FlagdCore`: of JsonLogic it knows `{ "var": name }`, whose value in the context is the variant. */
export class VarEvaluator implements FlagdEvaluator {
  #flags: Readonly<Record<string, VarFlag>> = {};

  setConfigurations(json: string): void {
    this.#flags = JSON.parse(json).flags;
    if (Object.hasOwn(this.#flags, 'refused')) throw new Error('no such flag, please');
  }

  getFlag(name: string): ReturnType<FlagdEvaluator['getFlag']> {
    if (name === 'overlooked') return undefined;
    const { variants, defaultVariant, targeting } = this.#flags[name] as VarFlag;
    return {
      evaluate: (context) => {
        if (targeting.var === undefined)
          return { errorCode: 'PARSE_ERROR', errorMessage: 'no such operator' };
        if (targeting.var === '') return { errorCode: 'PARSE_ERROR' };
        const variant = context[targeting.var] as string | undefined;
        if (variant === 'none') return { errorCode: 'GENERAL' };
        return variant === undefined
          ? { value: variants[defaultVariant], variant: defaultVariant, reason: 'DEFAULT' }
          : { value: variants[variant], variant, reason: 'TARGETING_MATCH' };
      },
    };
  }
}
