'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { ShortId } from '../../../components/copying';
import { Breadcrumb, PageHeader, Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { EmptyState } from '../../../components/states';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { SessionTable } from '../../sessions/session-table';
import { CourseFacts } from '../course-facts';

/** One course and its sessions. */
export function CoursePage({ courseId }: { courseId: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const trpc = useTRPC();
  const query = useQuery(trpc.courses.get.queryOptions({ courseId }));
  const course = query.data;
  if (!course) return <Pending query={query} className="h-96" />;
  return (
    <>
      <Breadcrumb above={[{ name: 'Courses', href: `${base}/courses` }]}>
        <ShortId id={course.id} name="course id" />
      </Breadcrumb>
      <PageHeader
        title={course.name}
        about={
          <>
            Last seen <Time at={course.lastSeenAt} />
          </>
        }
      />
      <div className="flex flex-col gap-4 lg:grid lg:grid-cols-12 lg:items-start">
        {/* Both have their places, so that neither moves while the page arrives. */}
        <div className="lg:col-span-4 lg:col-start-9 lg:row-start-1">
          <Section title="About">
            <CourseFacts course={course} />
          </Section>
        </div>
        <div className="min-w-0 lg:col-span-8 lg:col-start-1 lg:row-start-1">
          <SessionTable
            filters={{ courseId }}
            base={base}
            empty={
              <EmptyState title="No sessions are kept">
                <p>They are older than the plan’s retention period; the counts remain.</p>
              </EmptyState>
            }
          />
        </div>
      </div>
    </>
  );
}
