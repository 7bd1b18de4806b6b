/**
 * The one list of what a person should know of. `kinds` judge facts, purely; `facts` reads these once; `list` keeps what was found until it
 * is resolved or acknowledged, and looks while nobody does. `npx muster doctor`, `GET /v1/checks`, `GET /v1/attention`, the notifications
 * `finding.*` and the console are views of it; checks of one machine are the command's own.
 */
export { checkInstallation, type CheckResult, viewChecks } from './checks.ts';
export { bySeverity, FINDING_CODES, SEVERITIES } from './finding.ts';
export { FindingList } from './list/finding-list.ts';
export { openFindingLooks } from './list/finding-watch.ts';
export type { KeptFinding } from './list/reconcile.ts';
