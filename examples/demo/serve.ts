import type { Child } from './child.ts';
import { CONSOLE_PATH } from './console-path.ts';
import type { OriginReport, ServiceReport } from './reports.ts';
import { script } from './script.ts';

/** How long the origin's script takes when it is played over and over. */
const CYCLE_SECONDS = 60;

/** Keeps origin and service up, and tells what to try. Ends only by rejecting, when one of them does. */
export async function serve(origin: Child<OriginReport>, service: Child<ServiceReport>): Promise<never> {
  const [originUrl, serviceUrl] = await Promise.all([origin.url(), service.url()]);
  console.log(`
The service:  ${serviceUrl}
The origin:   ${originUrl}
The console:  ${serviceUrl}${CONSOLE_PATH}/

  curl -i ${serviceUrl}/postal-codes/90210
  curl -s ${serviceUrl}/status
  watch -n 0.5 "curl -s '${serviceUrl}/{status,postal-codes/K1A}'"

The data is due for a reload after a second, but only a read of a postal code
starts one: while nobody reads, the origin is left alone. This is what befalls
the origin, over ${CYCLE_SECONDS} seconds and then again, until Ctrl-C:
`);
  origin.send({ script, seconds: CYCLE_SECONDS, repeat: true });
  const timer = setInterval(tellPhases(origin), 200);
  return Promise.race([origin.crashed, service.crashed]).finally(() => clearInterval(timer));
}

function tellPhases(origin: Child<OriginReport>): () => void {
  let told: string | undefined;
  return () => {
    const { report } = origin;
    if (report === undefined || report.phase.title === told) return;
    told = report.phase.title;
    console.log(`${new Date().toLocaleTimeString('en-GB')}  ${told} (${report.requests} requests so far)`);
  };
}
