import type { ProcessRecord } from '../../queue/index.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { StoredSecrets } from '../facts/secrets.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { Inspection, Verdict } from '../inspection.ts';
import { describeBy } from './members.ts';

/** What is in Redis only sealed, and whether those who need it can open it. */
export const SEAL_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  { name: 'Sealing', codes: ['seal.mixed'], look: async (facts) => judgeSeals(await facts.processes(), facts.sealKeys) },
  {
    name: 'Secrets',
    codes: ['seal.lost'],
    depth: 'deep',
    look: async (facts) => judgeSecrets(await facts.secrets(), await facts.processes(), facts.sealKeys),
  },
];

type SealKeys = InstallationFacts['sealKeys'];

const SEALED = 'what steps gave, checkpoints, and the secrets of hooks, callbacks and agents';
const NEVER = 'inputs, outputs, results, logs, transcripts, and the names and errors of steps';

/** `processes`: those that live. `own`: the keys of this process. */
function judgeSeals(processes: readonly ProcessRecord[], own: SealKeys): Verdict {
  const used = new Set(processes.map(({ sealKey }) => sealKey));
  if (used.size > 1) return { findings: [describeMixed(processes)] };
  const [key = own.seals] = used;
  if (key === undefined) return { findings: [], note: `no MUSTER_SEAL_KEY: ${SEALED} are in clear in Redis` };
  return { findings: [], note: `the key ${key} seals ${SEALED}; in clear are ${NEVER}` };
}

function describeMixed(processes: readonly ProcessRecord[]): Finding {
  return findingOf({
    code: 'seal.mixed',
    severity: 'critical',
    text: `Processes seal with different keys: ${describeBy(processes, 'sealKey')}.`,
    helps: 'Give all the same MUSTER_SEAL_KEY; while a new one goes out, all need both, the other one as MUSTER_SEAL_KEY_PREVIOUS.',
    link: '/health',
  });
}

function judgeSecrets({ clear, sealed }: StoredSecrets, processes: readonly ProcessRecord[], own: SealKeys): Verdict {
  const known = new Set([...own.opens, ...processes.map(({ sealKey }) => sealKey)]);
  const lost = [...sealed].filter(([id]) => !known.has(id));
  const counts = [...[...sealed].map(([id, count]) => `${count} sealed with the key ${id}`), ...(clear > 0 ? [`${clear} in clear`] : [])];
  const note = counts.length === 0 ? 'hooks, callbacks and agents have none' : `of hooks, callbacks and agents: ${counts.join(', ')}`;
  return { findings: lost.map(([id, count]) => describeLost(id, count)), note };
}

function describeLost(id: string, count: number): Finding {
  return findingOf({
    code: 'seal.lost',
    severity: 'critical',
    text: `${count} secrets of hooks, callbacks and agents are sealed with the key ${id}, which no process has as MUSTER_SEAL_KEY.`,
    helps: 'Set MUSTER_SEAL_KEY_PREVIOUS to that key, or write these secrets again.',
    count,
    subject: id,
    link: '/health',
  });
}
