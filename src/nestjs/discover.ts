import type { DiscoveryService } from '@nestjs/core';
import { makerOf } from '../decorators/per-instance.ts';
import type { Closable } from './application.ts';

/** The instances of providers and controllers that exist once in an application, each once. */
export function singletonsOf(discovery: DiscoveryService): Set<object> {
  const wrappers = [...discovery.getProviders(), ...discovery.getControllers()];
  const singletons = wrappers.filter((one) => !one.isTransient && one.isDependencyTreeStatic());
  const instances = singletons.map(({ instance }) => instance);
  return new Set(instances.filter((one): one is object => typeof one === 'object' && one !== null));
}

/** The methods and getters of the class of an instance, and of those that it extends, by name. */
export function membersOf(instance: object): Map<string, PropertyDescriptor> {
  const members = new Map<string, PropertyDescriptor>();
  for (const [name, descriptor] of propertiesFrom(prototypeOf(instance))) {
    if (!members.has(name)) members.set(name, descriptor);
  }
  return members;
}

/** All that the decorators have made for an instance: also for methods that others override, and call by `super`. */
export function madeOf(instance: object): Closable[] {
  const made = [...propertiesFrom(instance)].map(([, property]) => makerOf(property)?.peek(instance));
  return made.filter((one) => one !== undefined) as Closable[];
}

/** The properties of an object and of its prototypes. */
function* propertiesFrom(object: object | null): Iterable<[string, PropertyDescriptor]> {
  for (let at = object; at !== null && at !== Object.prototype; at = prototypeOf(at)) {
    yield* Object.entries(Object.getOwnPropertyDescriptors(at));
  }
}

function prototypeOf(of: object): object | null {
  return Object.getPrototypeOf(of) as object | null;
}
