import { redirect } from 'next/navigation';

export default function Documents() {
  redirect('/docs/quickstart');
}
