// The used part of the module, without the globals of @cloudflare/workers-types, which are others than those of Node.

declare module 'cloudflare:workers' {
  export const env: Readonly<
    Record<string, import('../../../../src/backends/durable-object/object-namespace.ts').ObjectNamespace>
  >;
  export function waitUntil(promise: Promise<unknown>): void;
}
