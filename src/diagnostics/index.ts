// tickless/diagnostics: events and loads on the channels of node:diagnostics_channel.

export { type LoadMessage, publishDiagnostics } from './publish-diagnostics.ts';
