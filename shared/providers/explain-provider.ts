import { HOLD_ORDER, type HoldKind } from '../ledger/index.ts';
import { readThrottle, type StandingBlock, type ThrottleView } from './read-throttles.ts';
import { findThrottled, giveCall, type ThrottlePorts } from './throttle-scripts.ts';
import { timeText } from '../time/index.ts';
import { accountLabel, isOfAgent } from './account.ts';

/** What holds a task that waits for a provider, for `why`. */
export interface ProviderHold {
  detail: string;
  facts: Readonly<Record<string, number | string | null>>;
  until: number | null;
}

/**
 * Explains what holds a task by the id of a throttle; null when it was forgotten. It names no other tenant. `ahead`: tasks of the
 * same tenant that go before it.
 */
export async function explainProvider(
  ports: ThrottlePorts,
  { tenant, what, ahead }: { tenant: string; what: string; ahead: number },
): Promise<ProviderHold | null> {
  const view = await readThrottle(ports, what);
  if (view === null) return null;
  const { account, model, block, requestsPerMinute, tokensPerMinute, concurrent, requests, tokens, running } = view;
  const used = { requestsPerMinute, requests, tokensPerMinute, tokens, concurrent, running };
  const facts = { account: accountLabel(account), model, ...used };
  if (block === null) return { detail: rateDetail(view), facts, until: turnOf(view, ahead) };
  const { kind, scope, reason, untilMs } = block;
  const refusal = { blocked: kind, scope, reason, probe: probeFor(tenant, block) };
  return { detail: blockDetail(view, block), facts: { ...facts, ...refusal }, until: untilMs };
}

/** The gate of accounts and models at their providers. */
export function providerKind(ports: ThrottlePorts): HoldKind {
  return {
    gate: 'provider',
    sort: 'hold',
    waits: 'until the provider takes requests again',
    limit: 'what the provider takes',
    order: HOLD_ORDER,
    opens: 'the provider, its time, or, after a refusal, a retry by hand',
    helps: 'It starts when the provider takes requests again. Retry it to try now, where the provider refused a call.',
    describeTime: (at) => `provider cooldown until ${at}`,
    explain: async (tenant, what, ahead) => await explainProvider(ports, { tenant, what, ahead }),
    admitByHand: async (tenant, _id, what) => {
      const target = await findThrottled(ports, what);
      if (target) await giveCall(ports, target, tenant);
    },
  };
}

/** When the turn of a task should come, where tenants take turns evenly; null when that does not depend on the rate alone. */
function turnOf({ pace, waitingTenants, waitingTasks }: ThrottleView, ahead: number): number | null {
  if (pace === null) return null;
  const before = Math.min((ahead + 1) * Math.max(1, waitingTenants), Math.max(ahead + 1, waitingTasks)) - 1;
  return Math.round(pace.nextMs + before * pace.eachMs);
}

/** Which call tries now, as far as the tenant may know it. */
function probeFor(tenant: string, { probe }: StandingBlock): string | null {
  if (probe === null) return null;
  return probe === tenant || probe.split('/')[1] === tenant ? probe : 'another';
}

function blockDetail({ account, model }: ThrottleView, { kind, scope, reason, untilMs, probe }: StandingBlock): string {
  const whose = {
    model: `the model ${model} of ${accountLabel(account)}`,
    account: `the account ${isOfAgent(account.name) ? 'of the ' : ''}${accountLabel(account)}`,
    endpoint: account.endpoint,
  }[scope];
  const until = timeText(untilMs);
  if (kind === 'cooldown') return `${whose} takes no calls until ${until} (${reason})`;
  const next = probe === null ? `one call tries again for all at ${until}` : 'one call tries again for all now';
  return `${whose} takes no calls (${reason}); ${next}`;
}

function rateDetail({ account, model, requestsPerMinute, tokensPerMinute, concurrent, requests, tokens, running }: ThrottleView): string {
  const parts = [
    requestsPerMinute === null ? null : `${requests} of ${requestsPerMinute} calls`,
    tokensPerMinute === null ? null : `${tokens} of ${tokensPerMinute} tokens`,
  ].filter((part) => part !== null);
  const rate = parts.length === 0 ? null : `${parts.join(' and ')} of the last minute are used`;
  const busy = concurrent === null ? null : `${running} of ${concurrent} calls run`;
  const figures = [rate, busy].filter((part) => part !== null).join('; ') || 'its turn comes soon';
  return `calls of ${model} at ${accountLabel(account)} take turns: ${figures}`;
}
