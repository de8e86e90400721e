import logUpdate from 'log-update';
import type { Child } from './child.ts';
import type { OriginReport, ServiceReport } from './reports.ts';
import type { Results } from './summary.ts';
import { Traffic } from './traffic.ts';
import { line, type Sight, view } from './view.ts';

const REDRAW_EVERY_MS = 250;
const LINE_EVERY_MS = 2000;

/** Runs the traffic against the service while the origin plays its script, and shows how it goes. */
export async function run(
  origin: Child<OriginReport>,
  service: Child<ServiceReport>,
  seconds: number,
): Promise<Results> {
  const traffic = new Traffic(await service.url(), seconds);
  origin.send({ seconds, repeat: false });
  const stopShowing = show(origin, service, traffic, seconds);
  try {
    const summary = await Promise.race([traffic.summary(), origin.crashed, service.crashed]);
    // The children report on their own time: these are at most a moment older.
    return { traffic: summary, origin: reportOf(origin), service: reportOf(service) };
  } finally {
    traffic.stop();
    stopShowing();
  }
}

function show(
  origin: Child<OriginReport>,
  service: Child<ServiceReport>,
  traffic: Traffic,
  seconds: number,
): () => void {
  const { isTTY } = process.stdout;
  const startedAt = performance.now();
  let shownAt = startedAt;
  let shownReads = 0;
  const timer = setInterval(
    () => {
      if (origin.report === undefined || service.report === undefined) return;
      const now = performance.now();
      const report = traffic.report();
      const sight: Sight = {
        origin: origin.report,
        service: service.report,
        traffic: report,
        readsPerSecond: (report.reads - shownReads) / ((now - shownAt) / 1000),
        secondsPassed: (now - startedAt) / 1000,
        seconds,
      };
      shownAt = now;
      shownReads = report.reads;
      if (isTTY) logUpdate(view(sight));
      else console.log(line(sight));
    },
    isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS,
  );
  return () => {
    clearInterval(timer);
    if (isTTY) logUpdate.done();
  };
}

function reportOf<Report>(child: Child<Report>): Report {
  if (child.report === undefined) throw new Error('a process of the demo never reported');
  return child.report;
}
