import type { ChoreReport, WorkerRecord } from '../../queue/index.ts';
import { timeText } from '../../time/index.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { Inspection, Verdict } from '../inspection.ts';

const LINK = '/health';
/** A failure that is older was of a process that is gone. */
const RECENT_MS = 600_000;
/** A chore is late after so many times its time, and so long at least. */
const LATE_TIMES = 5;
const LATE_MS = 120_000;

/** What the fleet does again and again by itself. */
export const CHORE_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  {
    name: 'Chores',
    codes: ['chore.failing', 'chore.late'],
    look: async (facts) => judgeChores(await facts.chores(), await facts.workers(), await facts.now()),
  },
];

function judgeChores(chores: readonly ChoreReport[], members: readonly WorkerRecord[], now: number): Verdict {
  const failing = chores.filter((chore) => isFailing(chore, now));
  const late = chores.filter((chore) => !failing.includes(chore) && isLate(chore, members, now));
  const findings = [...failing.map(describeFailing), ...late.map(describeLate)];
  if (findings.length > 0) return { findings };
  const known = chores.filter(({ ran }) => ran !== null).length;
  return { findings, note: known === 0 ? 'none has run yet' : `${known} of ${chores.length} have run, none is late` };
}

/** Whether no round followed its last failure. */
function isFailing({ ran, failed }: ChoreReport, now: number): boolean {
  return failed !== null && failed.at > (ran?.at ?? 0) && now - failed.at < RECENT_MS;
}

/** Whether it has not run for long, or never, although workers are there that have been for long enough. */
function isLate({ by, everyMs, ran }: ChoreReport, members: readonly WorkerRecord[], now: number): boolean {
  const afterMs = Math.max(LATE_MS, LATE_TIMES * everyMs);
  const neededMs = ran === null ? afterMs : LATE_MS;
  const isThere = ({ role, status, startedAt }: WorkerRecord): boolean =>
    role === 'worker' && status !== 'dead' && startedAt !== null && now - startedAt > neededMs;
  return by.includes('worker') && (ran === null || now - ran.at > afterMs) && members.some(isThere);
}

function describeFailing({ name, guarantees, failed }: ChoreReport): Finding {
  const text = `The chore ${name} fails: ${failed?.error ?? ''}`;
  return findingOf({
    code: 'chore.failing',
    severity: 'warning',
    text: text.endsWith('.') ? text : `${text}.`,
    helps: `It runs again by itself. Until it works this is not sure: ${guarantees}`,
    since: failed?.at ?? null,
    subject: name,
    link: LINK,
  });
}

function describeLate({ name, runs, guarantees, ran }: ChoreReport): Finding {
  const start = runs === 'job' ? 'Start a worker that serves `maintenance`. ' : 'See whether the workers can reach Redis. ';
  return findingOf({
    code: 'chore.late',
    severity: 'warning',
    text: ran === null ? `The chore ${name} has never run.` : `The chore ${name} ran last at ${timeText(ran.at)}.`,
    helps: `${start}Until it runs this is not sure: ${guarantees}`,
    since: ran?.at ?? null,
    subject: name,
    link: LINK,
  });
}
