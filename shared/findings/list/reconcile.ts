import { bySeverity, type Finding, SEVERITIES, type Severity } from '../finding.ts';
import type { Inspected } from '../inspection.ts';

/** A finding with the time since when it is known, and who acknowledged it. */
export interface KeptFinding extends Finding {
  since: number;
  acknowledged: Acknowledgement | null;
}

/** A person knows of a finding: it is not shown again unless it becomes worse. */
export interface Acknowledgement {
  at: number;
  /** The key that was used. */
  by: string | null;
  severity: Severity;
}

/** What is stored of one list: findings by id, and acknowledgements. */
export interface StoredList {
  readonly findings: readonly Finding[];
  readonly acknowledged: ReadonlyMap<string, Acknowledgement>;
}

/** What becomes of a list. */
export interface Reconciled {
  /** The list, the worst first. */
  kept: KeptFinding[];
  opened: KeptFinding[];
  /** Stored ones that read otherwise now. */
  changed: KeptFinding[];
  resolved: Finding[];
}

/** Findings that one list keeps: of more the acknowledged ones go first, then the least severe, then the oldest. */
export const MAX_KEPT = 500;

/**
 * Brings what was found together with what is stored. A stored finding is resolved when its inspection was made, did not find it, and does
 * not keep it; a kept one is resolved once somebody acknowledged it.
 */
export function reconcile(stored: StoredList, inspected: readonly Inspected[], now: number): Reconciled {
  const before = new Map(stored.findings.map((finding) => [finding.id, finding]));
  const found = new Map(
    inspected.flatMap(({ result }) => ('skipped' in result ? [] : result.findings)).map((finding) => [finding.id, finding]),
  );
  const missing = stored.findings.filter(({ id }) => !found.has(id));
  const lasting = missing.filter((finding) => isLasting(finding, { inspected, isAcknowledged: stored.acknowledged.has(finding.id) }));
  const all = [...found.values(), ...lasting].map((finding) => keep(finding, before.get(finding.id), { stored, now }));
  const kept = bound(all);
  const ids = new Set(kept.map(({ id }) => id));
  return {
    kept,
    opened: kept.filter(({ id }) => !before.has(id)),
    changed: kept.filter((finding) => found.has(finding.id) && isChanged(finding, before.get(finding.id))),
    resolved: stored.findings.filter(({ id }) => !ids.has(id)),
  };
}

interface Missing {
  inspected: readonly Inspected[];
  isAcknowledged: boolean;
}

/** Whether a finding lasts that was not found now. */
function isLasting(finding: Finding, { inspected, isAcknowledged }: Missing): boolean {
  const of = inspected.find(({ codes }) => codes.includes(finding.code));
  if (of === undefined || 'skipped' in of.result) return true;
  return !isAcknowledged && (of.result.keeps?.(finding) ?? false);
}

function keep(finding: Finding, before: Finding | undefined, { stored, now }: { stored: StoredList; now: number }): KeptFinding {
  const known = [finding.since, before?.since].filter((since) => typeof since === 'number');
  const acknowledged = stored.acknowledged.get(finding.id) ?? null;
  return {
    ...finding,
    since: known.length === 0 ? now : Math.min(...known),
    acknowledged: acknowledged !== null && isWorse(finding.severity, acknowledged.severity) ? null : acknowledged,
  };
}

function isWorse(severity: Severity, than: Severity): boolean {
  return SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(than);
}

const COMPARED = ['severity', 'text', 'helps', 'count', 'link'] as const;

function isChanged(finding: Finding, before: Finding | undefined): boolean {
  return before !== undefined && COMPARED.some((field) => finding[field] !== before[field]);
}

function bound(all: readonly KeptFinding[]): KeptFinding[] {
  const rank = ({ acknowledged }: KeptFinding): number => (acknowledged === null ? 0 : 1);
  const first = all.toSorted((one, other) => rank(one) - rank(other) || bySeverity(one, other) || other.since - one.since);
  const ids = new Set(first.slice(0, MAX_KEPT).map(({ id }) => id));
  return all.filter(({ id }) => ids.has(id)).toSorted(bySeverity);
}
