//! Findings and failures as text for people. Foreign text is made harmless before it is shown; color never carries
//! meaning alone.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::core::diag::{Failure, Finding, Kind, Severity, harmless, harmless_in_place, listed};
use crate::core::log::Style;

/// Findings, as rustc would draw them. Help that neighbours of one code share stands once, behind the last of them.
pub fn render_findings(findings: &[&Finding], style: Style) -> String {
    let is_said_next = |at: usize| {
        let next = findings.get(at + 1);
        next.is_some_and(|next| next.code == findings[at].code && next.help == findings[at].help)
    };
    let drawn = findings.iter().enumerate().map(|(at, finding)| {
        let help = if is_said_next(at) { &[] } else { finding.help.as_slice() };
        render_finding(finding, help, style)
    });
    drawn.collect()
}

fn render_finding(finding: &Finding, help: &[String], style: Style) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = harmless(&finding.message);
    let unnamed: Vec<String> = finding.unnamed().iter().map(ToString::to_string).collect();
    let about = (!unnamed.is_empty()).then(|| listed(&unnamed));
    let notes: Vec<String> = about.iter().chain(&finding.notes).map(|note| harmless(note)).collect();
    let helps: Vec<String> = help.iter().map(|help| harmless(help)).collect();
    let mut group = Group::with_title(level.primary_title(&message).id(finding.code.as_str()));
    let mut rest = finding.labels.as_slice();
    while let Some(label) = rest.first() {
        // Labels of one file stand in one picture.
        let count = rest.iter().take_while(|other| other.source == label.source).count();
        let (together, further) = rest.split_at(count);
        rest = further;
        if label.span.is_empty() && label.span.start == 0 {
            group = group.element(Origin::path(harmless(&label.source.name)));
            continue;
        }
        // A profile is short; showing the whole text would still be too much, so lines without a mark are folded.
        let annotations =
            together.iter().map(|label| AnnotationKind::Primary.span(label.span.clone()).label(harmless(&label.text)));
        // The renderer itself takes care of ASCII.
        let source = Snippet::source(harmless_in_place(&label.source.text)).path(harmless(&label.source.name));
        group = group.element(source.annotations(annotations));
    }
    let notes = notes.iter().map(|note| Level::NOTE.message(note.as_str()));
    let helps = helps.iter().map(|help| Level::HELP.message(help.as_str()));
    for message in notes.chain(helps) {
        group = group.element(message);
    }
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    dense(&renderer.render(&[group]))
}

/// Without the lines that hold nothing but the bar beside the source.
fn dense(drawn: &str) -> String {
    drawn.lines().filter(|line| !is_empty(line)).flat_map(|line| [line, "\n"]).collect()
}

fn is_empty(line: &str) -> bool {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('\u{1b}') {
        text.push_str(&rest[..start]);
        rest = rest[start..].find('m').map_or("", |end| &rest[start + end + 1..]);
    }
    text.push_str(rest);
    text.trim() == "|"
}

/// A failure: its findings if it has any, else one line with causes and the next step.
pub fn render_failure(failure: &Failure, style: Style) -> String {
    if !failure.findings.is_empty() {
        return render_findings(&failure.findings.iter().collect::<Vec<_>>(), style);
    }
    let message = harmless(&failure.message);
    let title = Level::ERROR.primary_title(&message);
    let causes: Vec<String> = failure.causes.iter().map(|cause| harmless(cause)).collect();
    let helps: Vec<String> = failure.help.iter().map(|help| harmless(help)).collect();
    let mut group = Group::with_title(title);
    for cause in &causes {
        group = group.element(Level::NOTE.with_name("cause").message(cause.as_str()));
    }
    for help in &helps {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    if failure.kind == Kind::Bug {
        group =
            group.element(Level::HELP.message("this is a bug in colab-boot; please report it with the command line"));
    }
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    dense(&renderer.render(&[group]))
}

#[cfg(test)]
mod tests {
    use super::render_finding;
    use crate::core::diag::{Code, Finding, Source};
    use crate::core::log::{ProgressForm, Style};

    #[test]
    fn a_picture_of_foreign_text_cannot_steer_a_terminal() {
        let text = "key = 'x\u{9b}31m\u{202e}\u{85}\u{1b}[31m'\n";
        let source = Source { name: "a\u{9b}b.toml".into(), text: text.into() };
        let finding = Finding::error(Code::ProfileBadValue, "no").at(&source, 6..text.len() - 1, "x\u{9b}");
        let plain = Style { color: false, progress: ProgressForm::Lines };
        let drawn = render_finding(&finding, &[], plain);
        assert!(drawn.contains("key = ") && !drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
        assert!(!drawn.contains('\u{202e}'), "{drawn:?}");
    }
}
