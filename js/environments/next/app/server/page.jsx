import { outcome } from '../../outcome.js';

export const dynamic = 'force-dynamic';

export default async function Page() {
  return <output id="server">{await outcome()}</output>;
}
