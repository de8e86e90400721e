import type { DiscoveryService } from '@nestjs/core';

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
  for (let at = prototypeOf(instance); at !== null && at !== Object.prototype; at = prototypeOf(at)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (!members.has(name)) members.set(name, descriptor);
    }
  }
  return members;
}

function prototypeOf(of: object): object | null {
  return Object.getPrototypeOf(of) as object | null;
}
