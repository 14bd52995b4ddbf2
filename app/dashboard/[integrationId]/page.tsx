import { redirect } from 'next/navigation';

export default async function Integration({ params }: { params: Promise<{ integrationId: string }> }) {
  redirect(`/dashboard/${(await params).integrationId}/overview`);
}
