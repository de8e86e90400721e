import type { Child } from './child.ts';
import { display } from './display.ts';
import { Rate } from './rate.ts';
import type { OriginReport, ServiceReport } from './reports.ts';
import { script } from './script.ts';
import type { Results } from './summary.ts';
import { Traffic } from './traffic.ts';
import { line, type Sight, view } from './view.ts';

const CONNECTIONS = 10;

/** Runs the traffic against the service while the origin plays its script, and shows how it goes. */
export async function run(
  origin: Child<OriginReport>,
  service: Child<ServiceReport>,
  seconds: number,
): Promise<Results> {
  const traffic = new Traffic(await service.url(), { seconds, connections: CONNECTIONS });
  origin.send({ script, seconds, repeat: false });
  const startedAt = performance.now();
  const rate = new Rate();
  const sight = (): Sight | undefined => {
    if (origin.report === undefined || service.report === undefined) return undefined;
    const report = traffic.report();
    return {
      origin: origin.report,
      service: service.report,
      traffic: report,
      readsPerSecond: rate.perSecond(report.reads),
      secondsPassed: (performance.now() - startedAt) / 1000,
      seconds,
    };
  };
  const shown = (text: (sight: Sight) => string) => () => {
    const now = sight();
    return now && text(now);
  };
  const stopShowing = display({ view: shown(view), line: shown(line) });
  try {
    const summary = await Promise.race([traffic.summary(), origin.crashed, service.crashed]);
    // The children report on their own time: these are at most a moment older.
    return { traffic: summary, origin: reportOf(origin), service: reportOf(service) };
  } finally {
    traffic.stop();
    stopShowing();
  }
}

function reportOf<Report>(child: Child<Report>): Report {
  if (child.report === undefined) throw new Error('a process of the demo never reported');
  return child.report;
}
