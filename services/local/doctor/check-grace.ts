import type { Config } from '#shared/config/index.ts';
import type { CheckResult } from '#shared/findings/index.ts';
import { durationText } from '#shared/time/index.ts';

/** Of the grace, a stop keeps so much for handing back what still runs, and for closing connections after it. */
const HAND_BACK_MS = 5000;
const CLOSE_MS = 5000;

/**
 * Checks whether attempts may end when their worker does: no agent may run for longer than a stop waits, and no supervisor kills before that. No check
 * where nothing says how a worker is stopped.
 */
export function checkGrace({ env, settings, readVariable }: Pick<Config, 'env' | 'settings' | 'readVariable'>): CheckResult[] {
  const { SHUTDOWN_GRACE_MS: graceMs, POD_TERMINATION_GRACE_SECONDS: podSeconds, KUBERNETES_SERVICE_HOST: cluster } = env;
  if (podSeconds === undefined && cluster === undefined && readVariable('SHUTDOWN_GRACE_MS') === undefined) return [];
  const waitsMs = graceMs - Math.min(HAND_BACK_MS, graceMs / 2);
  const longer = Object.entries(settings.agents).filter(([, { timeoutMs }]) => timeoutMs !== undefined && timeoutMs > waitsMs);
  const warnings = [
    ...(podSeconds !== undefined && podSeconds * 1000 < graceMs + CLOSE_MS
      ? [
          `Kubernetes kills the pod after terminationGracePeriodSeconds (${podSeconds} s), before SHUTDOWN_GRACE_MS (${graceMs} ms) and 5 s are over`,
        ]
      : []),
    ...longer.map(
      ([name, { timeoutMs = 0 }]) =>
        `the agent ${name} may run for ${durationText(timeoutMs)} (timeoutMs), and a worker that ends waits for ${durationText(waitsMs)} (SHUTDOWN_GRACE_MS less 5 s): ` +
        'what keeps no steps starts over then',
    ),
  ];
  if (warnings.length === 0) return [{ name: 'Grace', state: 'ok', detail: `a worker that ends waits for ${durationText(waitsMs)}` }];
  return warnings.map((detail) => ({ name: 'Grace', state: 'warn', detail }));
}
