import { describeStorages, type NotedStorage } from '../../files/index.ts';
import { accountLabel, describeChanges, type ParameterChanges, type ThrottleView } from '../../providers/index.ts';
import { timeText } from '../../time/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

/** What the fleet works with: chat platforms, a place for files, limits, models. */
export const SURROUNDING_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  { name: 'Chat', codes: ['chat.refused'], look: async (facts) => judgePlatforms(await facts.refusedPlatforms()) },
  { name: 'Files', codes: ['files.apart'], look: async (facts) => judgeFiles(await facts.storages(), await facts.archives()) },
  { name: 'Limits', codes: [], look: async (facts) => ({ findings: [], note: describeLimits(await facts.limits()) }) },
  { name: 'Model parameters', codes: ['model.parameters'], look: async (facts) => judgeParameters(await facts.throttles()) },
  {
    name: 'Model providers',
    codes: ['provider.blocked'],
    look: async (facts) => judgeProviders(await facts.throttles(), await facts.now()),
  },
];

type Refusals = Awaited<ReturnType<InstallationFacts['refusedPlatforms']>>;

function judgePlatforms(refusals: Refusals): Verdict {
  return {
    findings: refusals.map(({ platform, reason, since }) =>
      findingOf({
        code: 'chat.refused',
        severity: 'critical',
        text: `${reason}. What people write there is not answered.`,
        helps: `Repair the bot at ${platform}, or its secrets; it connects by itself then.`,
        since,
        link: '/fleet',
        subject: platform,
      }),
    ),
  };
}

export function judgeFiles(files: readonly NotedStorage[], archives: readonly NotedStorage[]): Verdict {
  const findings = [
    ...(files.length < 2 ? [] : [describeApart(describeStorages(files, 'files'), null)]),
    ...(archives.length < 2 ? [] : [describeApart(describeStorages(archives, 'archive'), 'archive')]),
  ];
  if (findings.length > 0) return { findings };
  return { findings, note: files.length === 0 ? 'no process that stores files is running' : 'stored in one place' };
}

function describeApart(sentence: string, subject: string | null): Finding {
  const [text, helps] = splitAt(sentence, ': ');
  return findingOf({ code: 'files.apart', severity: 'warning', text: `${text}.`, helps, subject, link: '/health' });
}

/** What it is, and what helps, of a sentence that has both. */
function splitAt(sentence: string, colon: string): [text: string, helps: string] {
  const at = sentence.indexOf(colon);
  const rest = sentence.slice(at + colon.length);
  return [sentence.slice(0, at), `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`];
}

function describeLimits(limits: Awaited<ReturnType<InstallationFacts['limits']>>): string {
  const { stored, configured } = limits;
  const { maxConcurrent, ...others } = limits.current();
  const figures = Object.entries(others).flatMap(([name, figure]) => {
    if (figure === null) return [];
    return typeof figure === 'object' ? Object.keys(figure).map((each) => `${name}.${each}`) : [name];
  });
  const named = figures.length === 0 ? '' : `, and ${figures.join(', ')}`;
  const detail = `${maxConcurrent} attempts at once${named}`;
  if (stored === null) return `${detail}, by the configuration`;
  const changed = `${detail}, changed by API at ${timeText(stored.changedAt)}`;
  return `${changed}; the configuration says ${configured.maxConcurrent} at once`;
}

/** Which parameters servers of models refused, so that calls go without them or by another name. */
export function judgeParameters(models: readonly ThrottleView[]): Verdict {
  const refused = models.filter(({ parameters }) => Object.keys(parameters).length > 0);
  const [weak, fine] = [refused.filter(isWeak), refused.filter((view) => !isWeak(view))];
  const findings = weak.map((view) => {
    const { what, helps } = weaknessOf(view.parameters) ?? { what: '', helps: '' };
    const text = `${describeParameters(view)}: ${what}.`;
    return findingOf({ code: 'model.parameters', severity: 'warning', text, helps, subject: nameOf(view), link: '/usage' });
  });
  return { findings, note: fine.length === 0 ? null : fine.map(describeParameters).join('. ') };
}

function nameOf({ model, account }: ThrottleView): string {
  return `${model} at ${accountLabel(account)}`;
}

function describeParameters(view: ThrottleView): string {
  return `${nameOf(view)}: ${describeChanges(view.parameters).join('; ')}`;
}

function isWeak({ parameters }: ThrottleView): boolean {
  return weaknessOf(parameters) !== null;
}

/** What the fleet does without it. */
function weaknessOf(parameters: ParameterChanges): { what: string; helps: string } | null {
  if (parameters['stream_options']?.as === null) {
    return { what: 'its tokens are estimated where it does not report them', helps: 'Nothing, unless its server takes stream_options.' };
  }
  const hasBound = ['max_tokens', 'max_completion_tokens'].every((name) => parameters[name]?.as !== null);
  return hasBound ? null : { what: 'its answers have no bound', helps: 'The agent\'s "parameters" can name the one that it takes.' };
}

/** A shorter refusal is how a rate is kept. */
const BLOCKED_MS = 30_000;

/** Accounts and models that take no calls for a while. A refusal that several models share is named once. */
function judgeProviders(models: readonly ThrottleView[], now: number): Verdict {
  const blocked = models.flatMap((view) => (view.block !== null && isLasting(view.block, now) ? [describeBlock(view, view.block)] : []));
  const findings = [...new Map(blocked.map((finding) => [finding.id, finding])).values()];
  return { findings, note: findings.length === 0 && models.length > 0 ? 'take calls' : null };
}

type Block = NonNullable<ThrottleView['block']>;

function isLasting({ kind, sinceMs, untilMs }: Block, now: number): boolean {
  return kind === 'wall' || Math.max(now - sinceMs, untilMs - now) >= BLOCKED_MS;
}

function describeBlock(view: ThrottleView, { kind, scope, reason, sinceMs, untilMs }: Block): Finding {
  const subject = { model: nameOf(view), account: accountLabel(view.account), endpoint: view.account.endpoint }[scope];
  const end = kind === 'wall' ? `; one tries again at ${timeText(untilMs)}` : ` until ${timeText(untilMs)}`;
  return findingOf({
    code: 'provider.blocked',
    severity: 'warning',
    text: `Calls of ${subject} do not go (${reason})${end}.`,
    helps: 'See to the quota or the credit of the account, or give the agents another model or a fallback.',
    count: Math.max(1, view.waitingTasks),
    since: sinceMs,
    subject,
    link: '/usage',
  });
}
