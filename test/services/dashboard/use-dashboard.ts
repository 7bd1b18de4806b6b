import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { startDashboard, type DashboardOptions, type RunningDashboard } from './running-dashboard.ts';

/** A dashboard on a Redis of its own, for all tests of a file. */
export async function useDashboard(settings: SettingsInput = {}, options: DashboardOptions = {}): Promise<RunningDashboard> {
  return closeAfterTests(await startDashboard(settings, options));
}
