//! What a server answers, as text.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::super::executor::ToolResult;

/// The texts of a result, one below the other. Of what is no text the kind is told.
pub(super) fn result(result: &CallToolResult) -> ToolResult {
    let mut texts: Vec<String> = result.content.iter().map(text).collect();
    if texts.is_empty() {
        texts.extend(result.structured_content.as_ref().map(ToString::to_string));
    }
    let text = texts.join("\n");
    if result.is_error == Some(true) { ToolResult::error(text) } else { ToolResult::text(text) }
}

fn text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image: {}, {} bytes]", image.mime_type, bytes(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio: {}, {} bytes]", audio.mime_type, bytes(&audio.data)),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                format!("[resource: {uri}, {} bytes]", bytes(blob))
            }
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link: {}]", link.uri),
        _ => "[content of another kind]".to_owned(),
    }
}

/// How many bytes a base64 text stands for.
fn bytes(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
